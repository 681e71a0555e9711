// topo.path_narrows: between a GPU and its nearest NIC there is a link that is narrower than both of their own: there
// it will queue.
#include <fmt/format.h>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/audit/loads.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    if (virtual_machine(input, host).value_or(false)) continue;
    for (const LinkLoad& load : pcie_loads(input, host)) {
      if (load.flows.size() != 1) continue;
      const Flow& flow = load.flows.front();
      if (flow.gbs <= load.capacity_gbs * kLoadSlack) continue;
      report.add(self, input.on(host, input.locality.node(load.lower).name),
                 fmt::format("its uplink carries {:.4g} GB/s each way; {} and {} could use {:.4g}", load.capacity_gbs,
                             input.locality.node(flow.gpu).name, input.locality.node(flow.nic).name, flow.gbs));
    }
  }
}

}  // namespace

extern const Rule topo_path_narrows;
const Rule topo_path_narrows = {
    .id = "topo.path_narrows",
    .severity = Severity::Warning,
    .summary = "the path from a GPU to its NIC narrows on the way",
    .silent =
        "paths across sockets; the links of GPU and NIC themselves; links whose rate is assumed or emulated; virtual "
        "machines",
    .fix =
        "look for a switch uplink or riser that runs with few lanes (lspci -vv, LnkSta), or move the NIC below the "
        "GPU's switch",
    .reference = "PCI Express base specification, 1.2 (rates)",
    .check = check,
};

}  // namespace weft::topology::audit
