// The network between hosts.
#include "topology/network.hpp"

#include <cstddef>
#include <utility>

#include "topology/device_kinds.hpp"
#include "topology/fabric/fabric_spec.hpp"

namespace weft::topology {
namespace {

bool usable(const Node& node) { return node.kind == NodeKind::Nic && node.active.value_or(true); }

}  // namespace

std::vector<std::vector<int>> network_nics(const Graph& graph) {
  std::vector<std::vector<int>> fabric(static_cast<std::size_t>(graph.hosts()));
  std::vector<std::vector<int>> ethernet(fabric.size());
  for (const Node& node : graph.nodes)
    if (usable(node)) (node.fabric ? fabric : ethernet)[static_cast<std::size_t>(node.host)].push_back(node.id);
  for (std::size_t host = 0; host < fabric.size(); ++host)
    if (fabric[host].empty()) fabric[host] = std::move(ethernet[host]);
  return fabric;
}

NetworkRate network_rate_of(const Node& nic) {
  if (!nic.network_gbs) return {rates::kAssumedEthernet, false};
  const bool efa = is_efa(nic.device);
  const double latency = efa ? rates::kEfaLatencyUs : nic.fabric ? rates::kFabricLatencyUs : rates::kEthernetLatencyUs;
  return {{*nic.network_gbs, latency}, true};
}

bool is_much_slower(const std::optional<double>& port_gbs, double fastest_gbs) {
  constexpr double kMuchSlower = 0.75;
  return port_gbs && *port_gbs < kMuchSlower * fastest_gbs;
}

void join_hosts(Graph& graph) { join_hosts(graph, FabricSpec{}); }

}  // namespace weft::topology
