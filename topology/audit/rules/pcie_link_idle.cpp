// pcie.link_idle: GPUs in a power-saving state run their link slowly. Not a fault: the link is to be read again under
// load.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

bool saves_power(const std::string& state) {
  return state.size() > 1 && state[0] == 'P' && state != "P0" && state != "P1" && state != "P2" && state != "P3" &&
         state != "P4";
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    std::vector<int> idle;
    for (int gpu : accelerators(input, host)) {
      const DeviceFacts* facts = device_facts(input, gpu);
      const PciLink& pci = input.locality.node(gpu).pci;
      if (facts != nullptr && facts->power_state && saves_power(*facts->power_state) && pci.gts && pci.max_gts &&
          *pci.gts < *pci.max_gts)
        idle.push_back(gpu);
    }
    if (idle.empty()) continue;
    const PciLink& first = input.locality.node(idle.front()).pci;
    report.add(self, input.on(host, names_of(input.locality, idle)),
               fmt::format("at {:g} of {:g} GT/s while idle ({})", *first.gts, *first.max_gts,
                           *device_facts(input, idle.front())->power_state));
  }
}

}  // namespace

extern const Rule pcie_link_idle;
const Rule pcie_link_idle = {
    .id = "pcie.link_idle",
    .severity = Severity::Info,
    .summary = "GPUs save power, so their PCIe links are slow now",
    .silent = "GPUs whose power state is not known or is P0 to P4; links at full speed",
    .fix = "none needed; read the links again under load to be sure (topo-probe --measure)",
    .reference = "open-mpi/hwloc#653",
    .check = check,
};

}  // namespace weft::topology::audit
