// fabric.rail_only: NICs of one host are in networks that are not joined, so only NICs of the same rail reach each
// other. NCCL tries others, too, unless told not to.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

// Which network a NIC or switch is in: the smallest id that Network links join it to.
std::vector<int> networks(const Graph& graph) {
  std::vector<int> network(graph.nodes.size());
  for (std::size_t i = 0; i < network.size(); ++i) network[i] = static_cast<int>(i);
  const auto root = [&](int id) {
    while (network[static_cast<std::size_t>(id)] != id) {
      int& above = network[static_cast<std::size_t>(id)];
      above = network[static_cast<std::size_t>(above)];
      id = above;
    }
    return id;
  };
  for (const Link& link : graph.links) {
    if (link.kind != LinkKind::Network) continue;
    const int a = root(link.a);
    const int b = root(link.b);
    network[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  for (std::size_t i = 0; i < network.size(); ++i) network[i] = root(static_cast<int>(i));
  return network;
}

void check(const Rule& self, const Input& input, Report& report) {
  if (input.hosts() < 2 || input.facts(0).variable("NCCL_CROSS_NIC") == "0") return;
  const std::vector<int> network = networks(input.graph);
  std::map<int, std::set<int>> hosts;  // of each network
  std::map<int, int> first;            // a NIC of host 0 in it
  for (const Node& node : input.graph.nodes) {
    if (node.kind != NodeKind::Nic) continue;
    hosts[network[static_cast<std::size_t>(node.id)]].insert(node.host);
    if (node.host == 0) first.try_emplace(network[static_cast<std::size_t>(node.id)], node.id);
  }
  std::vector<int> rails;
  for (const auto& [id, nic] : first)
    if (hosts[id].size() > 1) rails.push_back(nic);
  if (rails.size() < 2) return;
  report.add(self, fmt::format("{} rails", rails.size()),
             fmt::format("{} of host0 are in networks that are not joined: {} reaches no {} of another host",
                         names_of(input.locality, rails), input.locality.node(rails[0]).name,
                         input.locality.node(rails[1]).name));
}

}  // namespace

extern const Rule fabric_rail_only;
const Rule fabric_rail_only = {
    .id = "fabric.rail_only",
    .severity = Severity::Warning,
    .summary = "rails of the fabric are not joined",
    .silent = "NCCL_CROSS_NIC=0; a network that joins all NICs; one host",
    .fix = "export NCCL_CROSS_NIC=0, and keep the order of ranks so that neighbours share a rail",
    .reference = "NVIDIA/nccl#2013",
    .check = check,
};

}  // namespace weft::topology::audit
