// Signatures of hosts.
#include "topology/host_signature.hpp"

#include <cstddef>

#include "topology/path_finder.hpp"
#include "topology/storage.hpp"

namespace weft::topology {

HostSignatures::HostSignatures(const Graph& graph) : graph_(graph), position_(graph.nodes.size(), -1) {
  const auto hosts = static_cast<std::size_t>(graph.hosts());
  nodes_.resize(hosts);
  links_.resize(hosts);
  stated_.resize(hosts);
  const StorageParts storage(graph);  // on no way between ranks
  for (const Node& node : graph.nodes) {
    if (node.host < 0 || storage.contains(node.id)) continue;
    std::vector<int>& nodes = nodes_[static_cast<std::size_t>(node.host)];
    position_[static_cast<std::size_t>(node.id)] = static_cast<int>(nodes.size());
    nodes.push_back(node.id);
  }
  const auto host_of = [&](int node) { return graph.nodes[static_cast<std::size_t>(node)].host; };
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const Link& link = graph.links[i];
    if (link.kind != LinkKind::Network && !storage.contains(link.a) && !storage.contains(link.b))
      links_[static_cast<std::size_t>(host_of(link.a))].push_back(static_cast<int>(i));
  }
  for (std::size_t i = 0; i < graph.stated.size(); ++i)
    stated_[static_cast<std::size_t>(host_of(graph.stated[i].a))].push_back(static_cast<int>(i));
}

std::vector<std::int64_t> HostSignatures::of(int host, const std::vector<int>& devices) const {
  std::vector<std::int64_t> text;
  const auto at = static_cast<std::size_t>(host);
  text.push_back(static_cast<std::int64_t>(nodes_[at].size()));
  for (int id : nodes_[at]) {
    const Node& node = graph_.nodes[static_cast<std::size_t>(id)];
    text.push_back(static_cast<std::int64_t>(node.kind));
    text.push_back(node.parent < 0 ? -1 : position(node.parent));
  }
  text.push_back(static_cast<std::int64_t>(links_[at].size()));
  for (int id : links_[at]) {
    const Link& link = graph_.links[static_cast<std::size_t>(id)];
    text.insert(text.end(), {position(link.a), position(link.b), static_cast<std::int64_t>(link.kind),
                             width_kbs(link.bandwidth_gbs), latency_ps(link.latency_us), link.count});
  }
  text.push_back(static_cast<std::int64_t>(stated_[at].size()));
  for (int id : stated_[at]) {
    const StatedClass& stated = graph_.stated[static_cast<std::size_t>(id)];
    text.insert(text.end(), {position(stated.a), position(stated.b), static_cast<std::int64_t>(stated.path_class)});
  }
  for (int device : devices) text.push_back(position(device));
  return text;
}

}  // namespace weft::topology
