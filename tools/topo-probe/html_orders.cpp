// Rings and trees over the pictures of the HTML page.
#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "html_page.hpp"

namespace weft::topo_probe {
namespace {

constexpr std::size_t kMaxOrders = 16;  // of rings, and of trees
// More arrows than this make no picture.
constexpr std::size_t kMaxRanks = 256;

}  // namespace

std::vector<Order> orders_of(const Report& report) {
  std::vector<Order> orders;
  if (!report.rings || report.rings->placement.size() > kMaxRanks) return orders;
  const std::vector<int>& placement = report.rings->placement;
  const auto add = [&](const std::string& kind, std::size_t number) -> auto& {
    orders.push_back({fmt::format("{} {}", kind, number), {fmt::format("{}{}", kind, number), {}}});
    return orders.back().overlay.edges;
  };
  const auto node_of = [&](int rank) { return placement[static_cast<std::size_t>(rank)]; };
  for (std::size_t i = 0; i < report.rings->group.rings.size() && i < kMaxOrders; ++i) {
    const std::vector<int>& ring = report.rings->group.rings[i];
    auto& edges = add("ring", i);
    for (std::size_t at = 0; at < ring.size(); ++at)
      edges.emplace_back(node_of(ring[at]), node_of(ring[(at + 1) % ring.size()]));
  }
  for (std::size_t i = 0; i < report.rings->group.trees.size() && i < kMaxOrders; ++i) {
    const Tree& tree = report.rings->group.trees[i];
    auto& edges = add("tree", i);
    for (std::size_t rank = 0; rank < tree.children.size(); ++rank)
      for (int child : tree.children[rank]) edges.emplace_back(node_of(static_cast<int>(rank)), node_of(child));
  }
  for (Order& order : orders)
    std::erase_if(order.overlay.edges, [](const auto& edge) { return edge.first == edge.second; });
  return orders;
}

}  // namespace weft::topo_probe
