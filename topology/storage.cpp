// What is storage's alone.
#include "topology/storage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/plural.hpp"

namespace weft::topology {
namespace {

bool is_bridge(NodeKind kind) { return kind == NodeKind::PciBridge || kind == NodeKind::PciSwitch; }

// Bridges and switches with something below that is no storage, and those with nothing below.
std::vector<bool> needed_by_others(const Graph& graph) {
  std::vector<bool> needed(graph.nodes.size(), false);
  std::vector<bool> has_children(graph.nodes.size(), false);
  const auto parent_of = [&](int node) { return graph.nodes[static_cast<std::size_t>(node)].parent; };
  for (const Node& node : graph.nodes)
    if (node.parent >= 0) has_children[static_cast<std::size_t>(node.parent)] = true;
  for (const Node& node : graph.nodes) {
    if (node.kind == NodeKind::Storage || (is_bridge(node.kind) && has_children[static_cast<std::size_t>(node.id)]))
      continue;
    for (int at = node.id; at >= 0 && !needed[static_cast<std::size_t>(at)]; at = parent_of(at))
      needed[static_cast<std::size_t>(at)] = true;
  }
  return needed;
}

}  // namespace

StorageParts::StorageParts(const Graph& graph) : is_part_(graph.nodes.size(), false), below_(graph.nodes.size()) {
  const std::vector<bool> needed = needed_by_others(graph);
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::Storage) continue;
    int at = node.id;
    while (at >= 0 && !needed[static_cast<std::size_t>(at)]) {
      is_part_[static_cast<std::size_t>(at)] = true;
      at = graph.nodes[static_cast<std::size_t>(at)].parent;
    }
    if (at >= 0) below_[static_cast<std::size_t>(at)].push_back(node.id);
  }
}

std::string storage_count(std::size_t count) { return base::plural(count, "storage device"); }

std::string storage_names(const Graph& graph, const std::vector<int>& storage) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(storage.size(), kShown); ++i)
    names.push_back(graph.nodes[static_cast<std::size_t>(storage[i])].name);
  if (storage.size() <= kShown) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names, ", "), storage.size() - kShown);
}

}  // namespace weft::topology
