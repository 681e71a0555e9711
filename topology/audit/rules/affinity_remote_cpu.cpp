// affinity.remote_cpu: the process is bound to CPUs that are all on other sockets than its GPU: the GPU is fed from the
// far socket.
#include <fmt/format.h>

#include <algorithm>
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
    const std::vector<Binding> bindings = bindings_of(input, host);
    const auto far = [](const Binding& binding) { return binding.common.empty(); };
    if (bindings.empty() || !std::all_of(bindings.begin(), bindings.end(), far)) continue;
    const std::optional<std::string>& cgroup = facts.container.cgroup_cpus;
    if (cgroup && !cgroup->empty() && common_cpus(*cgroup, bindings.front().local).empty()) continue;
    std::vector<int> gpus;
    for (const Binding& binding : bindings) gpus.push_back(binding.gpu);
    report.add(self, input.on(host, names_of(input.locality, gpus)),
               fmt::format("the process runs on CPUs {}, near {} are {}", *facts.process.allowed_cpus,
                           input.locality.node(gpus.front()).name, bindings.front().local));
  }
}

}  // namespace

extern const Rule affinity_remote_cpu;
const Rule affinity_remote_cpu = {
    .id = "affinity.remote_cpu",
    .severity = Severity::Warning,
    .summary = "a GPU is fed from the far socket",
    .silent =
        "GPUs that CUDA_VISIBLE_DEVICES hides; a process that sees GPUs of both sockets and is near to some; cgroups "
        "without near CPUs (affinity.empty_intersection)",
    .fix = "bind to the GPU's CPUs: topo-probe --bindings writes the lines for numactl, mpirun and torchrun",
    .reference = "pytorch/pytorch#115305",
    .check = check,
};

}  // namespace weft::topology::audit
