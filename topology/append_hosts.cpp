// Machines side by side.
#include "topology/append_hosts.hpp"

#include <cstddef>
#include <utility>

namespace weft::topology {

std::vector<int> append_hosts(Graph& cluster, int first_host, const Graph& part) {
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
  return id_in_cluster;
}

void append_hosts(Survey& cluster, const Survey& part) {
  const std::vector<int> ids = append_hosts(cluster.graph, static_cast<int>(cluster.hosts.size()), part.graph);
  for (int host = 0; host < part.graph.hosts(); ++host) cluster.hosts.push_back(part.facts(host));
  cluster.remarks.insert(cluster.remarks.end(), part.remarks.begin(), part.remarks.end());
  for (Measurement measured : part.measurements) {
    measured.from = ids[static_cast<std::size_t>(measured.from)];
    measured.to = ids[static_cast<std::size_t>(measured.to)];
    if (measured.from >= 0 && measured.to >= 0) cluster.measurements.push_back(std::move(measured));
  }
}

}  // namespace weft::topology
