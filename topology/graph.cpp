// topology::Graph: growing it and finding things in it. check() is in check.cpp, paths are in path_finder.cpp.
#include "weft/graph.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/assert.hpp"
#include "topology/path_finder.hpp"

namespace weft::topology {
namespace {

// "host1/gpu3" -> (1 or the machine of that name, "gpu3"). No prefix: (-1, name). A prefix that names no host: nullopt.
struct Address {
  int host = -1;
  std::string_view name;
};

std::optional<int> host_named(const Graph& graph, std::string_view prefix) {
  std::optional<int> found;
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::Machine || node.name != prefix) continue;
    if (found) return std::nullopt;
    found = node.host;
  }
  return found;
}

std::optional<Address> parse_address(const Graph& graph, std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return Address{-1, text};
  const std::string_view prefix = text.substr(0, slash);
  const std::string_view name = text.substr(slash + 1);
  if (prefix.starts_with("host")) {
    int host = -1;
    const auto [end, error] = std::from_chars(prefix.data() + 4, prefix.data() + prefix.size(), host);
    if (error == std::errc() && end == prefix.data() + prefix.size() && host >= 0) return Address{host, name};
  }
  const std::optional<int> host = host_named(graph, prefix);
  if (!host) return std::nullopt;
  return Address{*host, name};
}

}  // namespace

int Graph::hosts() const {
  return static_cast<int>(
      std::count_if(nodes.begin(), nodes.end(), [](const Node& n) { return n.kind == NodeKind::Machine; }));
}

std::vector<int> Graph::ids(NodeKind kind) const {
  std::vector<int> found;
  for (const Node& node : nodes)
    if (node.kind == kind) found.push_back(node.id);
  return found;
}

std::optional<int> Graph::find(std::string_view text) const {
  const std::optional<Address> address = parse_address(*this, text);
  if (!address) return std::nullopt;
  std::optional<int> found;
  for (const Node& node : nodes) {
    if (node.name != address->name || (address->host >= 0 && node.host != address->host)) continue;
    if (found) return std::nullopt;  // the same name on several hosts
    found = node.id;
  }
  return found;
}

int Graph::add(Node node) {
  node.id = static_cast<int>(nodes.size());
  nodes.push_back(std::move(node));
  return nodes.back().id;
}

int Graph::connect(int a, int b, LinkKind kind, double bandwidth_gbs, double latency_us, std::string source,
                   int count) {
  WEFT_ASSERT(a != b && a >= 0 && b >= 0 && a < static_cast<int>(nodes.size()) && b < static_cast<int>(nodes.size()));
  links.push_back(Link{a, b, kind, bandwidth_gbs, latency_us, count, std::move(source)});
  return static_cast<int>(links.size()) - 1;
}

Path Graph::best_path(int from, int to) const { return PathFinder(*this).best_path(from, to); }

std::vector<Path> Graph::best_paths(int from, const std::vector<int>& to) const {
  return PathFinder(*this).best_paths(from, to);
}

}  // namespace weft::topology
