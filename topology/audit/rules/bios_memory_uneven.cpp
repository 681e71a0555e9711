// bios.memory_uneven: one socket has clearly less memory than the others: a DIMM failed or is missing, and with it the
// bandwidth of its channel.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/cpu_set.hpp"

namespace weft::topology::audit {
namespace {

// Of nodes that share CPUs the largest: hwloc tells CPUs also of memory that is only near them, HBM or CXL.
std::vector<int> main_memory(const Input& input, int host) {
  const auto node = [&](int numa) -> const Node& { return input.locality.node(numa); };
  std::vector<int> numas = numas_with_cpus(input.locality, host);
  std::stable_sort(numas.begin(), numas.end(),
                   [&](int a, int b) { return node(a).memory_bytes.value_or(0) > node(b).memory_bytes.value_or(0); });
  std::vector<int> kept;
  for (int numa : numas)
    if (std::none_of(kept.begin(), kept.end(),
                     [&](int larger) { return !common_cpus(node(numa).cpus, node(larger).cpus).empty(); }))
      kept.push_back(numa);
  std::sort(kept.begin(), kept.end());
  return kept;
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const std::vector<int> numas = main_memory(input, host);
    if (numas.size() < 2 || virtual_machine(input, host).value_or(false)) continue;
    std::uint64_t most = 0;
    for (int numa : numas) most = std::max(most, input.locality.node(numa).memory_bytes.value_or(0));
    for (int numa : numas) {
      const std::optional<std::uint64_t>& bytes = input.locality.node(numa).memory_bytes;
      if (!bytes || *bytes == 0 || *bytes >= most - most / 10) continue;
      report.add(self, input.locality.describe(numa),
                 fmt::format("has {:.0f} GiB, another node {:.0f} GiB", std::ldexp(static_cast<double>(*bytes), -30),
                             std::ldexp(static_cast<double>(most), -30)));
    }
  }
}

}  // namespace

extern const Rule bios_memory_uneven;
const Rule bios_memory_uneven = {
    .id = "bios.memory_uneven",
    .severity = Severity::Warning,
    .summary = "a socket has less memory than the others",
    .silent =
        "differences below a tenth; nodes without CPUs, or with CPUs of a larger one (HBM, CXL); sources that do not "
        "tell memory; virtual machines",
    .fix = "look for a DIMM that is missing or was disabled (dmidecode -t memory, the BMC's log)",
    .reference = "Documentation/admin-guide/mm/numaperf.rst of Linux",
    .check = check,
};

}  // namespace weft::topology::audit
