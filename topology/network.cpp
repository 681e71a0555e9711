// The network between hosts.
#include "topology/network.hpp"

#include <cstddef>
#include <string>

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
  const bool efa = nic.device.starts_with("1d0f:efa");
  const double latency = efa ? rates::kEfaLatencyUs : nic.fabric ? rates::kFabricLatencyUs : rates::kEthernetLatencyUs;
  return {{*nic.network_gbs, latency}, true};
}

void join_hosts(Graph& graph) {
  if (graph.hosts() < 2) return;
  const std::vector<std::vector<int>> nics = network_nics(graph);
  const std::vector<int> machines = graph.ids(NodeKind::Machine);
  Node fabric;
  fabric.kind = NodeKind::NetworkSwitch;
  fabric.name = "network0";
  fabric.host = -1;
  const int network = graph.add(std::move(fabric));
  for (int machine : machines) {
    const auto host = static_cast<std::size_t>(graph.nodes[static_cast<std::size_t>(machine)].host);
    for (int nic : nics[host]) {
      const NetworkRate rate = network_rate_of(graph.nodes[static_cast<std::size_t>(nic)]);
      graph.connect(nic, network, LinkKind::Network, rate.rate.bandwidth_gbs, rate.rate.latency_us,
                    rate.known ? "spec" : "assumed");
    }
    if (nics[host].empty())
      graph.connect(machine, network, LinkKind::Network, rates::kAssumedEthernet.bandwidth_gbs,
                    rates::kAssumedEthernet.latency_us, "assumed");
  }
}

}  // namespace weft::topology
