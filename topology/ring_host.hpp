// What the search for rings knows of a host: between which devices a ring may go, and what the links on the way carry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "topology/path_finder.hpp"
#include "weft/graph.hpp"

namespace weft::topology {

// From one device to another.
struct RingPair {
  std::vector<int> hops;  // directed links, as RingHost numbers them
  PathClass path_class = PathClass::None;
  std::int64_t width = 0;  // KB/s; 0 where no ring may go
};

class RingHost {
 public:
  // `farthest`: pairs beyond that class are no neighbours.
  RingHost(PathFinder& finder, const Graph& graph, const std::vector<int>& devices, PathClass farthest);

  std::size_t count() const { return count_; }
  const RingPair& pair(std::size_t from, std::size_t to) const { return pairs_[from * count_ + to]; }
  // By directed link, KB/s.
  const std::vector<std::int64_t>& capacity() const { return capacity_; }

  // Speeds worth trying, fastest first: widths of pairs, single lanes of their links, and even parts of both.
  std::vector<std::int64_t> speeds() const;

  // No rings together are faster than what leaves, or reaches, the device that has least.
  std::int64_t bound() const;

 private:
  int compact(const Graph& graph, const Hop& hop);

  std::size_t count_;
  std::vector<RingPair> pairs_;
  std::vector<std::int64_t> capacity_;
  std::vector<std::pair<int, int>> keys_;  // directed link of the graph and its number here, sorted
  std::set<std::int64_t> lanes_;
};

}  // namespace weft::topology
