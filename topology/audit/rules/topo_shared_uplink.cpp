// topo.shared_uplink: several GPUs or NICs have to pass one PCIe link on their way to each other, and together they ask
// for more than it carries: there it will queue.
//
// Each GPU is thought to send to its nearest NICs as much as these take, shared evenly. What stays inside a switch does
// not count.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/audit/loads.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    if (virtual_machine(input, host).value_or(false)) continue;
    for (const LinkLoad& load : pcie_loads(input, host)) {
      if (load.flows.size() < 2 || load.gbs <= load.capacity_gbs * kLoadSlack) continue;
      std::vector<std::string> flows;
      for (const Flow& flow : load.flows)
        flows.push_back(
            fmt::format("{} to {}", input.locality.node(flow.gpu).name, input.locality.node(flow.nic).name));
      report.add(self, input.on(host, input.locality.node(load.lower).name),
                 fmt::format("its uplink carries {:.4g} GB/s each way and is asked for {:.4g}: {}", load.capacity_gbs,
                             load.gbs, names_of(flows)));
    }
  }
}

}  // namespace

extern const Rule topo_shared_uplink;
const Rule topo_shared_uplink = {
    .id = "topo.shared_uplink",
    .severity = Severity::Warning,
    .summary = "GPUs and NICs compete for one PCIe uplink",
    .silent =
        "traffic inside a switch, also between the levels of a Broadcom switch; links whose rate is assumed or "
        "emulated, or of which only the present speed is told; GPUs whose nearest NIC is across sockets; virtual "
        "machines",
    .fix = "move a NIC below the switch of the GPUs that use it, or spread the cards over other root ports",
    .reference = "PCI Express base specification, 1.2 (rates)",
    .check = check,
};

}  // namespace weft::topology::audit
