// What rings reach: alone, and while all of them run and share links.
#pragma once

#include <vector>

#include "topology/path_finder.hpp"
#include "topology/sharing.hpp"

namespace weft::topology {

struct RingRate {
  Path narrowest;           // the narrowest step of the ring, alone
  LinkLoads::Share shared;  // and where it is narrowest while all rings run
};

// One for each ring; `placement` gives the node of each rank. A ring of one rank has no steps and no rates.
std::vector<RingRate> ring_rates(const Graph& graph, PathFinder& finder, const std::vector<int>& placement,
                                 const std::vector<std::vector<int>>& rings);

// The sum, GB/s.
double total_gbs(const std::vector<RingRate>& rates);

}  // namespace weft::topology
