// kernel.numa_balancing: the kernel unmaps pages to see who uses them, and moves them: stalls of milliseconds in the
// middle of a collective.
#include <fmt/format.h>

#include "base/plural.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    if (!input.facts(host).kernel.numa_balancing.value_or(false)) continue;
    const std::size_t numas = numas_with_cpus(input.locality, host).size();
    const std::size_t gpus = accelerators(input, host).size();
    const std::size_t nics = usable_nics(input, host).size();
    if (numas < 2 || gpus + nics == 0) continue;
    report.add(self, input.on(host, "kernel.numa_balancing"),
               fmt::format("is 1 on a host with {} NUMA nodes and {}", numas,
                           gpus > 0 ? base::plural(gpus, "GPU") : base::plural(nics, "fabric NIC")));
  }
}

}  // namespace

extern const Rule kernel_numa_balancing;
const Rule kernel_numa_balancing = {
    .id = "kernel.numa_balancing",
    .severity = Severity::Warning,
    .summary = "automatic NUMA balancing is on",
    .silent = "one NUMA node; hosts without accelerators and fabric NICs",
    .fix = "sysctl -w kernel.numa_balancing=0 (in /etc/sysctl.d to keep it)",
    .reference = "deepseek-ai/DeepEP#624, ROCm/rccl#1562",
    .check = check,
};

}  // namespace weft::topology::audit
