// container.cpuset_misses_numa: the cgroup allows no memory, or no CPU, of the NUMA node on which a GPU hangs: what is
// staged for it comes from the far node.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topology/audit/affinity.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/cpu_set.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    const std::optional<std::string>& memories = facts.container.cgroup_memories;
    const std::optional<std::string>& cpus = facts.container.cgroup_cpus;
    std::map<int, std::vector<int>> gpus;  // by NUMA node
    for (int gpu : visible_gpus(input, host))
      if (const std::vector<int> near = input.locality.numa_nodes_of(gpu); near.size() == 1)
        gpus[near.front()].push_back(gpu);
    for (const auto& [numa, on_it] : gpus) {
      const Node& node = input.locality.node(numa);
      if (!node.os_index) continue;
      const bool no_memory =
          memories && !memories->empty() && common_cpus(*memories, std::to_string(*node.os_index)).empty();
      const bool no_cpu = !facts.process.allowed_cpus && cpus && !cpus->empty() && !node.cpus.empty() &&
                          common_cpus(*cpus, node.cpus).empty();
      if (!no_memory && !no_cpu) continue;
      report.add(self, input.on(host, node.name),
                 fmt::format(
                     "{} {}, and {} {} on it", no_memory ? "the cgroup has memory of nodes" : "the cgroup has CPUs",
                     no_memory ? *memories : *cpus, names_of(input.locality, on_it), on_it.size() == 1 ? "is" : "are"));
    }
  }
}

}  // namespace

extern const Rule container_cpuset_misses_numa;
const Rule container_cpuset_misses_numa = {
    .id = "container.cpuset_misses_numa",
    .severity = Severity::Warning,
    .summary = "the cgroup leaves out the NUMA node of a GPU",
    .silent =
        "cgroups whose sets are not known; GPUs whose NUMA node is not known; a missing CPU of which affinity rules "
        "tell",
    .fix =
        "ask for CPUs and memory near the GPUs: cpuset.cpus and cpuset.mems, Kubernetes' topology manager "
        "(single-numa-node), srun --gpu-bind=closest",
    .reference = "NVIDIA/nccl-tests#57",
    .check = check,
};

}  // namespace weft::topology::audit
