// merge(): machines side by side, then joined to one network.
#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "topology/limits.hpp"
#include "topology/network.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

// Appends the machines of `part`. Its own network is left out: the hosts are joined anew.
void append(Graph& cluster, int first_host, const Graph& part) {
  std::vector<int> id_in_cluster(part.nodes.size(), -1);
  for (const Node& node : part.nodes) {
    if (node.kind == NodeKind::NetworkSwitch) continue;
    Node copy = node;
    copy.host += first_host;
    id_in_cluster[static_cast<std::size_t>(node.id)] = cluster.add(std::move(copy));
  }
  for (const Node& node : part.nodes) {
    const int id = id_in_cluster[static_cast<std::size_t>(node.id)];
    if (id >= 0 && node.parent >= 0)
      cluster.nodes[static_cast<std::size_t>(id)].parent = id_in_cluster[static_cast<std::size_t>(node.parent)];
  }
  for (const Link& link : part.links) {
    if (link.kind == LinkKind::Network) continue;
    Link copy = link;
    copy.a = id_in_cluster[static_cast<std::size_t>(link.a)];
    copy.b = id_in_cluster[static_cast<std::size_t>(link.b)];
    cluster.links.push_back(std::move(copy));
  }
  for (StatedClass stated : part.stated) {  // ids keep their order, so a < b still holds
    stated.a = id_in_cluster[static_cast<std::size_t>(stated.a)];
    stated.b = id_in_cluster[static_cast<std::size_t>(stated.b)];
    cluster.stated.push_back(stated);
  }
}

}  // namespace

Result<Graph> merge(const std::vector<Graph>& hosts) {
  if (hosts.empty()) return Status(Code::InvalidArgument, "topology: merge needs at least one machine");
  std::size_t nodes = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    WEFT_TRY(hosts[i].check().with_context(fmt::format("machine {} of the merge", i)));
    nodes += hosts[i].nodes.size();
  }
  if (nodes > kMaxNodes)
    return Status(Code::ResourceExhausted,
                  fmt::format("topology: merged machines have {} nodes, the limit is {}", nodes, kMaxNodes));
  if (hosts.size() == 1) return hosts.front();
  Graph cluster;
  cluster.name = fmt::format("{} machines like {}", hosts.size(), hosts.front().name);
  cluster.nodes.reserve(nodes + 1);
  int first_host = 0;
  for (const Graph& host : hosts) {
    append(cluster, first_host, host);
    first_host += host.hosts();
  }
  join_hosts(cluster);
  return cluster;
}

}  // namespace weft::topology
