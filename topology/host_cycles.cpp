// Cyclic orders of the devices of one host.
//
// The devices stand in containment order (package, NUMA node, switch, bus) when rings are searched, so that among equal
// ones the ring that follows it is found first; it is also what remains where none is found.
#include <algorithm>
#include <utility>

#include "topology/ring_search.hpp"
#include "topology/rings.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxCycles = 8;
// Beyond that many devices on a host their pairs are not looked at: containment alone orders them.
constexpr std::size_t kMaxPairwise = 64;

// The ids from the top of the containment tree down to the node: devices in that order are near their neighbours.
std::vector<int> lineage(const Graph& graph, int node) {
  std::vector<int> line;
  for (int at = node; at >= 0; at = graph.nodes[static_cast<std::size_t>(at)].parent) line.push_back(at);
  std::reverse(line.begin(), line.end());
  return line;
}

}  // namespace

std::vector<std::vector<int>> host_cycles(const Graph& graph, PathFinder& finder, std::vector<int> devices) {
  std::vector<std::pair<std::vector<int>, int>> keyed;
  for (int device : devices) keyed.emplace_back(lineage(graph, device), device);
  std::sort(keyed.begin(), keyed.end());
  for (std::size_t i = 0; i < keyed.size(); ++i) devices[i] = keyed[i].second;
  if (devices.size() < 3 || devices.size() > kMaxPairwise) return {devices};
  std::vector<std::vector<int>> result;
  // Cores move the bytes themselves: a second ring would find them busy.
  const bool gpus = graph.nodes[static_cast<std::size_t>(devices.front())].kind == NodeKind::Gpu;
  for (const std::vector<std::size_t>& ring : search_rings(finder, graph, devices, gpus ? kMaxCycles : 1).rings) {
    std::vector<int> order;
    for (std::size_t position : ring) order.push_back(devices[position]);
    result.push_back(std::move(order));
  }
  if (result.empty()) result.push_back(std::move(devices));
  return result;
}

}  // namespace weft::topology
