// Graph::check(): what must hold in every graph, whoever made it. Linear in nodes and links.
#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "weft/graph.hpp"

namespace weft::topology {
namespace {

constexpr double kMaxRate = 1e9;  // GB/s or us: beyond any machine, and safe to turn into integers

Status broken(std::string message) { return Status(Code::InvalidArgument, "topology: " + std::move(message)); }

bool positive(const std::optional<double>& value) {
  return !value || (std::isfinite(*value) && *value > 0 && *value <= kMaxRate);
}
bool not_negative(const std::optional<double>& value) {
  return !value || (std::isfinite(*value) && *value >= 0 && *value <= kMaxRate);
}

Status check_numbers(const Node& node) {
  if (!positive(node.pci.gts) || !positive(node.pci.max_gts) || !positive(node.loopback_gbs) ||
      !positive(node.network_gbs) || !not_negative(node.loopback_us))
    return broken(fmt::format("node {} ({}) has a rate or latency that is not a positive number", node.id, node.name));
  for (const std::optional<int>& width : {node.pci.width, node.pci.max_width, node.cores})
    if (width && *width <= 0)
      return broken(fmt::format("node {} ({}) has a width or core count below 1", node.id, node.name));
  return {};
}

Status check_node(const Graph& graph, int index) {
  const Node& node = graph.nodes[static_cast<std::size_t>(index)];
  const int count = static_cast<int>(graph.nodes.size());
  if (node.id != index) return broken(fmt::format("node {} carries the id {}; ids are indices", index, node.id));
  if (node.name.empty() || node.name.find('/') != std::string::npos)
    return broken(fmt::format("node {} has the name \"{}\"; names are not empty and hold no '/'", index, node.name));
  if (node.parent < -1 || node.parent >= count || node.parent == index)
    return broken(fmt::format("node {} ({}) has parent {}, which is no other node", index, node.name, node.parent));
  if ((node.kind == NodeKind::NetworkSwitch) != (node.host == -1))
    return broken(fmt::format("node {} ({}) has host {}; network switches have -1, all others a host", index, node.name,
                              node.host));
  if (node.host < -1 || node.host >= count)
    return broken(fmt::format("node {} ({}) has host {}", index, node.name, node.host));
  if (node.parent >= 0 && graph.nodes[static_cast<std::size_t>(node.parent)].host != node.host)
    return broken(fmt::format("node {} ({}) and its parent {} are on different hosts", index, node.name, node.parent));
  return check_numbers(node);
}

// Follows parents; a walk that meets itself is a cycle. Each node is walked over once.
Status check_containment(const Graph& graph) {
  std::vector<int> walk(graph.nodes.size(), -1);
  for (std::size_t start = 0; start < graph.nodes.size(); ++start) {
    for (int at = static_cast<int>(start); at >= 0 && walk[static_cast<std::size_t>(at)] != static_cast<int>(start);
         at = graph.nodes[static_cast<std::size_t>(at)].parent) {
      if (walk[static_cast<std::size_t>(at)] >= 0) break;  // an earlier walk reached the top from here
      walk[static_cast<std::size_t>(at)] = static_cast<int>(start);
      const int parent = graph.nodes[static_cast<std::size_t>(at)].parent;
      if (parent >= 0 && walk[static_cast<std::size_t>(parent)] == static_cast<int>(start))
        return broken(fmt::format("node {} is its own ancestor", parent));
    }
  }
  return {};
}

Status check_link(const Graph& graph, int index) {
  const Link& link = graph.links[static_cast<std::size_t>(index)];
  const int count = static_cast<int>(graph.nodes.size());
  if (link.a < 0 || link.b < 0 || link.a >= count || link.b >= count || link.a == link.b)
    return broken(fmt::format("link {} joins {} and {}, which are not two nodes", index, link.a, link.b));
  if (!positive(link.bandwidth_gbs)) return broken(fmt::format("link {} has bandwidth {}", index, link.bandwidth_gbs));
  if (!not_negative(link.latency_us)) return broken(fmt::format("link {} has latency {}", index, link.latency_us));
  if (link.count < (link.kind == LinkKind::Xgmi ? 0 : 1))
    return broken(fmt::format("link {} has count {}", index, link.count));
  const int host_a = graph.nodes[static_cast<std::size_t>(link.a)].host;
  const int host_b = graph.nodes[static_cast<std::size_t>(link.b)].host;
  if (link.kind != LinkKind::Network && host_a != host_b)
    return broken(
        fmt::format("link {} is a {} link between two hosts; only network links are", index, to_string(link.kind)));
  return {};
}

// Names of one host are unique; so are those of the network switches.
Status check_names(const Graph& graph) {
  std::set<std::pair<int, std::string_view>> seen;
  for (const Node& node : graph.nodes)
    if (!seen.emplace(node.host, node.name).second)
      return broken(fmt::format("the name \"{}\" occurs twice on host {}", node.name, node.host));
  return {};
}

int root_of(std::vector<int>& leader, int node) {
  while (leader[static_cast<std::size_t>(node)] != node) {
    leader[static_cast<std::size_t>(node)] = leader[static_cast<std::size_t>(leader[static_cast<std::size_t>(node)])];
    node = leader[static_cast<std::size_t>(node)];
  }
  return node;
}

// Hosts are numbered 0..N-1, each with one Machine, and all nodes of a host hang together without the network.
Status check_hosts(const Graph& graph) {
  std::vector<int> machine(graph.nodes.size(), -1);
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::Machine) continue;
    int& slot = machine[static_cast<std::size_t>(node.host)];
    if (slot >= 0) return broken(fmt::format("host {} has two machines, nodes {} and {}", node.host, slot, node.id));
    slot = node.id;
  }
  const int hosts = graph.hosts();
  if (hosts == 0) return broken("there is no machine");
  std::vector<int> leader(graph.nodes.size());
  std::iota(leader.begin(), leader.end(), 0);
  for (const Link& link : graph.links)
    if (link.kind != LinkKind::Network)
      leader[static_cast<std::size_t>(root_of(leader, link.a))] = root_of(leader, link.b);
  for (const Node& node : graph.nodes) {
    if (node.host < 0) continue;
    if (node.host >= hosts)
      return broken(fmt::format("node {} is on host {}, but hosts are 0 to {}", node.id, node.host, hosts - 1));
    const int home = machine[static_cast<std::size_t>(node.host)];
    if (home < 0) return broken(fmt::format("host {} has no machine", node.host));
    if (root_of(leader, node.id) != root_of(leader, home))
      return broken(fmt::format("node {} ({}) has no path to its machine", node.id, node.name));
  }
  return {};
}

Status check_stated(const Graph& graph) {
  const int count = static_cast<int>(graph.nodes.size());
  std::set<std::pair<int, int>> seen;
  for (const StatedClass& stated : graph.stated) {
    if (stated.a < 0 || stated.b <= stated.a || stated.b >= count)
      return broken(
          fmt::format("a class is stated for {} and {}, which are not two nodes in order", stated.a, stated.b));
    const int host = graph.nodes[static_cast<std::size_t>(stated.a)].host;
    if (host < 0 || host != graph.nodes[static_cast<std::size_t>(stated.b)].host)
      return broken(fmt::format("a class is stated for {} and {}, which are not on one host", stated.a, stated.b));
    if (stated.path_class < PathClass::Pix || stated.path_class > PathClass::Unknown)
      return broken(fmt::format("{} and {} are stated to be {}; PIX to SYS and UNKNOWN can be stated", stated.a,
                                stated.b, to_string(stated.path_class)));
    if (!seen.emplace(stated.a, stated.b).second)
      return broken(fmt::format("the class of {} and {} is stated twice", stated.a, stated.b));
  }
  return {};
}

}  // namespace

Status Graph::check() const {
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) WEFT_TRY(check_node(*this, i));
  WEFT_TRY(check_containment(*this));
  for (int i = 0; i < static_cast<int>(links.size()); ++i) WEFT_TRY(check_link(*this, i));
  WEFT_TRY(check_names(*this));
  WEFT_TRY(check_stated(*this));
  return check_hosts(*this);
}

}  // namespace weft::topology
