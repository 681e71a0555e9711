// env.cross_nic: NCCL_CROSS_NIC lets rings leave by one NIC and enter by another, on a fabric whose rails are separate
// switches: the traffic crosses them at the top.
//
// A warning where the fabric is known to have a switch for each rail; where it is not known, and the NICs are cards
// with two ports, a hint.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

// By host, the first switches that its NICs hang on; empty if no network is known.
std::vector<std::set<int>> first_switches(const Input& input) {
  std::vector<std::set<int>> switches(static_cast<std::size_t>(input.hosts()));
  for (const Link& link : input.graph.links) {
    if (link.kind != LinkKind::Network) continue;
    for (const auto& [end, other] : {std::pair(link.a, link.b), std::pair(link.b, link.a)})
      if (const int host = input.locality.node(end).host;
          host >= 0 && input.locality.node(other).kind == NodeKind::NetworkSwitch)
        switches[static_cast<std::size_t>(host)].insert(other);
  }
  return switches;
}

// Pairs of NICs that are the two ports of one card, both up.
int two_port_cards(const Input& input, const std::vector<int>& nics) {
  std::map<std::string, int> cards;
  for (int nic : nics) {
    const std::string& bus = input.locality.node(nic).bus_id;
    if (bus.size() > 2) ++cards[bus.substr(0, bus.size() - 2)];
  }
  return static_cast<int>(std::count_if(cards.begin(), cards.end(), [](const auto& card) { return card.second > 1; }));
}

void check(const Rule& self, const Input& input, Report& report) {
  const std::vector<std::set<int>> switches_of_host = first_switches(input);
  for (int host = 0; host < input.hosts(); ++host) {
    const std::optional<std::string_view> set = input.facts(host).variable("NCCL_CROSS_NIC");
    const std::vector<int> nics = usable_nics(input, host);
    if (!set || *set == "0" || nics.size() < 2) continue;
    const std::size_t switches = switches_of_host[static_cast<std::size_t>(host)].size();
    const int cards = two_port_cards(input, nics);
    if (switches > 1)
      report.add(self, input.on(host, "NCCL_CROSS_NIC"),
                 fmt::format("is {}, and the {} NICs hang on {} switches", *set, nics.size(), switches));
    else if (switches == 0 && cards > 0)
      report.add(self, Severity::Info, input.on(host, "NCCL_CROSS_NIC"),
                 fmt::format("is {}, and {} of the cards {} two ports, perhaps on two switches", *set, cards,
                             cards == 1 ? "has" : "have"));
  }
}

}  // namespace

extern const Rule env_cross_nic;
const Rule env_cross_nic = {
    .id = "env.cross_nic",
    .severity = Severity::Warning,
    .summary = "NCCL_CROSS_NIC crosses rails",
    .silent = "the variable not set, or 0; one NIC; a fabric whose NICs share their first switch",
    .fix = "export NCCL_CROSS_NIC=0 on rails, and check how ECMP spreads the flows",
    .reference = "NVIDIA/nccl#1453",
    .check = check,
};

}  // namespace weft::topology::audit
