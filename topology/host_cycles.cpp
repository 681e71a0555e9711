// Cyclic orders of the devices of one host.
//
// Start from the containment order (package, NUMA node, switch, bus). Take the widest width at which a cycle through
// all devices exists and search it depth first, preferring the next device of the containment order; the search is
// bounded, and the containment order itself is what remains. Small integers only, so all ranks find the same.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "topology/rings.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxCycles = 8;
constexpr int kMaxSearchSteps = 20'000;
// Beyond that many devices on a host their pairs are not looked at: containment alone orders them.
constexpr std::size_t kMaxPairwise = 64;

// The ids from the top of the containment tree down to the node: devices in that order are near their neighbours.
std::vector<int> lineage(const Graph& graph, int node) {
  std::vector<int> line;
  for (int at = node; at >= 0; at = graph.nodes[static_cast<std::size_t>(at)].parent) line.push_back(at);
  std::reverse(line.begin(), line.end());
  return line;
}

struct Pairs {
  std::size_t count = 0;
  std::vector<std::int64_t> width;  // [from * count + to]
  bool all_device_links = true;     // each pair is joined by NVLink or the like

  std::int64_t at(std::size_t from, std::size_t to) const { return width[from * count + to]; }
};

Pairs pairs_of(PathFinder& finder, const std::vector<int>& devices) {
  Pairs pairs{devices.size(), std::vector<std::int64_t>(devices.size() * devices.size()), true};
  for (std::size_t from = 0; from < devices.size(); ++from) {
    const std::vector<Path> paths = finder.best_paths(devices[from], devices);
    for (std::size_t to = 0; to < devices.size(); ++to) {
      pairs.width[from * devices.size() + to] = paths[to].hops.empty() ? 0 : width_kbs(paths[to].bandwidth_gbs);
      if (from != to && paths[to].path_class != PathClass::Nvl) pairs.all_device_links = false;
    }
  }
  return pairs;
}

// Depth-first search for a cycle 0 -> ... -> 0 over all positions, along allowed steps.
class CycleSearch {
 public:
  CycleSearch(std::size_t count, std::function<bool(std::size_t, std::size_t)> allowed)
      : count_(count), allowed_(std::move(allowed)), used_(count, false) {}

  bool find() {
    order_.assign(1, 0);
    used_[0] = true;
    return extend();
  }
  const std::vector<std::size_t>& order() const { return order_; }

 private:
  bool extend() {
    if (order_.size() == count_) return allowed_(order_.back(), 0);
    const std::size_t last = order_.back();
    for (std::size_t step = 1; step < count_; ++step) {
      const std::size_t next = (last + step) % count_;
      if (used_[next] || !allowed_(last, next)) continue;
      if (++steps_ > kMaxSearchSteps) return false;
      used_[next] = true;
      order_.push_back(next);
      if (extend()) return true;
      order_.pop_back();
      used_[next] = false;
    }
    return false;
  }

  std::size_t count_;
  std::function<bool(std::size_t, std::size_t)> allowed_;
  std::vector<bool> used_;
  std::vector<std::size_t> order_;
  int steps_ = 0;
};

// Cycles over positions: the widest first, then as many as use no step twice at that width.
std::vector<std::vector<std::size_t>> cycles_of(const Pairs& pairs) {
  std::vector<std::vector<std::size_t>> cycles;
  std::set<std::pair<std::size_t, std::size_t>> used;
  const std::set<std::int64_t, std::greater<>> widths(pairs.width.begin(), pairs.width.end());
  for (std::int64_t least : widths) {
    const auto allowed = [&](std::size_t a, std::size_t b) {
      return pairs.at(a, b) >= least && !used.contains({a, b});
    };
    while (least > 0 && cycles.size() < kMaxCycles) {
      CycleSearch search(pairs.count, allowed);
      if (!search.find()) break;
      cycles.push_back(search.order());
      for (std::size_t i = 0; i < pairs.count; ++i)
        used.emplace(search.order()[i], search.order()[(i + 1) % pairs.count]);
      if (!pairs.all_device_links) break;  // other paths share their links: a second cycle gains nothing
    }
    if (!cycles.empty()) break;
  }
  return cycles;
}

}  // namespace

std::vector<std::vector<int>> host_cycles(const Graph& graph, PathFinder& finder, std::vector<int> devices) {
  std::vector<std::pair<std::vector<int>, int>> keyed;
  for (int device : devices) keyed.emplace_back(lineage(graph, device), device);
  std::sort(keyed.begin(), keyed.end());
  for (std::size_t i = 0; i < keyed.size(); ++i) devices[i] = keyed[i].second;
  if (devices.size() < 3 || devices.size() > kMaxPairwise) return {devices};
  std::vector<std::vector<int>> result;
  for (const std::vector<std::size_t>& cycle : cycles_of(pairs_of(finder, devices))) {
    std::vector<int> order;
    for (std::size_t position : cycle) order.push_back(devices[position]);
    result.push_back(std::move(order));
  }
  if (result.empty()) result.push_back(std::move(devices));
  return result;
}

}  // namespace weft::topology
