// net.rate_below_cap: a port runs at half its device's rate or less: an older cable, switch or splitter.
//
// A warning where a NIC like it on the same host is faster, or the card is shared by two functions; by the id alone it
// is only worth a look, as some variants of a card are made for less.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/audit/shared_ports.hpp"
#include "topology/device_kinds.hpp"

namespace weft::topology::audit {
namespace {

double fastest_like(const Input& input, const Node& node, int host) {
  double fastest = 0;
  for (int other : usable_nics(input, host)) {
    if (!node.device.empty() && input.locality.node(other).device == node.device)
      fastest = std::max(fastest, port_gbs(input, other).value_or(0));
  }
  return fastest;
}

void check(const Rule& self, const Input& input, Report& report) {
  constexpr double kHalf = 0.55;
  for (int host = 0; host < input.hosts(); ++host) {
    if (virtual_machine(input, host).value_or(false)) continue;
    std::vector<int> below;  // by the id alone
    for (int nic : usable_nics(input, host)) {
      const Node& node = input.locality.node(nic);
      const std::optional<double> gbs = port_gbs(input, nic);
      if (!gbs || node.active != true) continue;
      const double like = fastest_like(input, node, host);
      const std::optional<double> nominal = nominal_network_gbs(node.device);
      if (*gbs <= kHalf * like)
        report.add(self, Severity::Warning, input.locality.describe(nic),
                   fmt::format("{:g} Gbit/s, while a NIC like it has {:g}", *gbs * 8, like * 8));
      else if (nominal && *gbs <= kHalf * *nominal)
        below.push_back(nic);
    }
    if (below.empty()) continue;
    const Node& first = input.locality.node(below.front());
    const bool shared = !shared_ports(input, host).empty();
    report.add(self, shared ? Severity::Warning : Severity::Info, input.on(host, names_of(input.locality, below)),
               fmt::format("{:g} of {:g} Gbit/s that {} can do", *port_gbs(input, first.id) * 8,
                           *nominal_network_gbs(first.device) * 8, first.device));
  }
}

}  // namespace

extern const Rule net_rate_below_cap;
const Rule net_rate_below_cap = {
    .id = "net.rate_below_cap",
    .severity = Severity::Info,
    .summary = "a port is slower than its device can be",
    .silent = "ports that are down; virtual machines and functions; devices whose rate is not known",
    .fix =
        "look for the cable or switch port that is made for less (mlxlink, ibdiagnet); the card may also be a slower "
        "variant",
    .reference = "NVIDIA/nccl#307",
    .check = check,
};

}  // namespace weft::topology::audit
