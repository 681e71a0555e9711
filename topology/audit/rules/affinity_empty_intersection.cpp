// affinity.empty_intersection: the cgroup holds none of the CPUs near a GPU, so binding to them fails
// (sched_setaffinity: invalid argument).
#include <fmt/format.h>

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
    const std::optional<std::string>& cgroup = input.facts(host).container.cgroup_cpus;
    if (!cgroup || cgroup->empty()) continue;
    std::vector<int> gpus;
    std::string local;
    for (const Binding& binding : bindings_of(input, host)) {
      if (!binding.common.empty() || !common_cpus(*cgroup, binding.local).empty()) continue;
      gpus.push_back(binding.gpu);
      local = binding.local;
    }
    if (!gpus.empty())
      report.add(
          self, input.on(host, names_of(input.locality, gpus)),
          fmt::format("the cgroup has CPUs {}, near {} are {}", *cgroup, input.locality.node(gpus.back()).name, local));
  }
}

}  // namespace

extern const Rule affinity_empty_intersection;
const Rule affinity_empty_intersection = {
    .id = "affinity.empty_intersection",
    .severity = Severity::Error,
    .summary = "the cgroup has no CPU near a GPU",
    .silent =
        "GPUs that CUDA_VISIBLE_DEVICES hides; processes narrowed by taskset alone (affinity.remote_cpu); sets that "
        "are not known",
    .fix =
        "ask for cores near the GPU (srun --gpu-bind=closest, Kubernetes' topology manager), and do not bind where the "
        "intersection is empty",
    .reference = "nvidia-cosmos/cosmos-predict1#11",
    .check = check,
};

}  // namespace weft::topology::audit
