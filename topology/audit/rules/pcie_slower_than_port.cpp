// pcie.slower_than_port: a NIC's port is faster than its PCIe link, so the port can never be filled.
//
// A card with two connections to the machine (socket direct; DGX Spark's x4 halves) shares its port between functions:
// their links count together.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/device_facts.hpp"

namespace weft::topology::audit {
namespace {

// What the port carries: InfiniBand up to QDR states its line rate (10, 20 or 40 Gbit/s), of which a fifth is coding
// (8b/10b). Where the link layer is not known it is thought to be InfiniBand.
double payload_gbs(const Input& input, int nic, double stated) {
  const bool line_rate = stated == 5 || stated == 2.5 || stated == 1.25;
  const DeviceFacts* facts = device_facts(input, nic);
  const bool ethernet = facts != nullptr && !facts->ports.empty() && facts->ports.front().ethernet();
  return line_rate && !ethernet ? stated * 0.8 : stated;
}

// The link of the card: of all its functions on other buses, too.
double card_link_gbs(const Input& input, int nic, double own) {
  const DeviceFacts* facts = device_facts(input, nic);
  if (facts == nullptr || !facts->system_image_guid) return own;
  const std::string_view slot = std::string_view(input.locality.node(nic).bus_id).substr(0, 10);
  double gbs = own;
  std::vector<std::string_view> slots = {slot};
  for (int other : input.locality.nics(input.locality.node(nic).host)) {
    const DeviceFacts* one = device_facts(input, other);
    const std::string_view place = std::string_view(input.locality.node(other).bus_id).substr(0, 10);
    if (one == nullptr || one->system_image_guid != facts->system_image_guid) continue;
    if (std::find(slots.begin(), slots.end(), place) != slots.end()) continue;
    slots.push_back(place);
    gbs += input.locality.pci_link_gbs(other).value_or(own);
  }
  return gbs;
}

void check(const Rule& self, const Input& input, Report& report) {
  constexpr double kSlack = 1.05;  // 100 Gbit/s and x16 of generation 3 have names that differ more than their rates
  for (int host = 0; host < input.hosts(); ++host) {
    if (virtual_machine(input, host).value_or(false)) continue;
    for (int nic : usable_nics(input, host)) {
      const Node& node = input.locality.node(nic);
      const std::optional<double> own = input.locality.pci_link_gbs(nic);
      const std::optional<double> stated = port_gbs(input, nic);
      if (!stated || !own || !node.active.value_or(true)) continue;
      if (!states_rate(input.survey, node, device_facts(input, nic))) continue;
      const double link = card_link_gbs(input, nic, *own);
      const double port = payload_gbs(input, nic, *stated);
      if (port > link * kSlack)
        report.add(self, input.locality.describe(nic),
                   fmt::format("its port does {:g} Gbit/s, {:.4g} GB/s, its PCIe link {:.4g} GB/s: traffic will queue "
                               "in the card",
                               port * 8, port, link));
    }
  }
}

}  // namespace

extern const Rule pcie_slower_than_port;
const Rule pcie_slower_than_port = {
    .id = "pcie.slower_than_port",
    .severity = Severity::Warning,
    .summary = "a NIC's port is faster than its PCIe link",
    .silent =
        "functions of one card, whose links are added up; ports that are down; rates that only the device's id tells; "
        "links that are not known; virtual "
        "machines",
    .fix = "move the card to a slot with more or faster lanes, or use the second connection of the card",
    .reference = "PCI Express base specification, 1.2 (rates)",
    .check = check,
};

}  // namespace weft::topology::audit
