// affinity.cpuset_narrow: the process may use only a few of the CPUs near its GPU, fewer than its share among the GPUs
// there.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "topology/audit/affinity.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/cpu_set.hpp"

namespace weft::topology::audit {
namespace {

std::size_t gpus_near(const Input& input, int host, const std::string& cpus) {
  std::size_t count = 0;
  for (int gpu : accelerators(input, host)) count += local_cpus(input, gpu) == cpus ? 1 : 0;
  return count;
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    std::vector<int> gpus;
    const Binding* first = nullptr;
    const std::vector<Binding> bindings = bindings_of(input, host);
    for (const Binding& binding : bindings) {
      const std::size_t near = std::max<std::size_t>(1, gpus_near(input, host, binding.local));
      const std::size_t share = count_cpus(binding.local) / near;
      if (binding.common.empty() || count_cpus(binding.common) >= share) continue;
      if (first == nullptr) first = &binding;
      gpus.push_back(binding.gpu);
    }
    if (first == nullptr) continue;
    report.add(self, input.on(host, names_of(input.locality, gpus)),
               fmt::format("the process may use CPUs {}: {} of the {} near {} ({})", *facts.process.allowed_cpus,
                           count_cpus(first->common), count_cpus(first->local), input.locality.node(first->gpu).name,
                           first->local));
  }
}

}  // namespace

extern const Rule affinity_cpuset_narrow;
const Rule affinity_cpuset_narrow = {
    .id = "affinity.cpuset_narrow",
    .severity = Severity::Warning,
    .summary = "the process may use few of the CPUs near its GPU",
    .silent =
        "a fair share of the CPUs among the GPUs near them; processes that see all GPUs without a launcher; sets that "
        "are not known",
    .fix = "srun --cpu-bind=map_ldom or --gpu-bind=closest with more --cpus-per-task; or NCCL_IGNORE_CPU_AFFINITY=1",
    .reference = "NVIDIA/nccl-tests#57",
    .check = check,
};

}  // namespace weft::topology::audit
