// bios.numa_without_memory: a NUMA node has CPUs but no memory: the DIMMs of that socket are missing, in the wrong
// slots or failed. All that its CPUs touch is far.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const std::vector<int> numas = numas_with_cpus(input.locality, host);
    const bool told = std::any_of(numas.begin(), numas.end(),
                                  [&](int numa) { return input.locality.node(numa).memory_bytes.value_or(0) > 0; });
    if (!told || virtual_machine(input, host).value_or(false)) continue;
    for (int numa : numas)
      if (input.locality.node(numa).memory_bytes == std::uint64_t{0})
        report.add(self, input.locality.describe(numa),
                   fmt::format("has CPUs {} and 0 bytes of memory", input.locality.node(numa).cpus));
  }
}

}  // namespace

extern const Rule bios_numa_without_memory;
const Rule bios_numa_without_memory = {
    .id = "bios.numa_without_memory",
    .severity = Severity::Warning,
    .summary = "a NUMA node has CPUs but no memory",
    .silent = "nodes without CPUs (GPU memory, CXL); sources that do not tell memory; virtual machines",
    .fix = "look for DIMMs that are missing, in the wrong slots or failed (dmidecode -t memory, the BMC's log)",
    .reference = "Documentation/admin-guide/mm/numaperf.rst of Linux",
    .check = check,
};

}  // namespace weft::topology::audit
