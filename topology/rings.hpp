// Orders of the devices of one host, so that neighbours are near: what rings over many hosts are put together from.
#pragma once

#include <vector>

#include "topology/path_finder.hpp"
#include "weft/graph.hpp"

namespace weft::topology {

// Cyclic orders of `devices` (distinct nodes of one host, at least one) that together move as much as the links between
// them carry (ring_search.hpp), and among such follow package, NUMA node and switch. At least one; each starts with the
// first device of the containment order.
std::vector<std::vector<int>> host_cycles(const Graph& graph, PathFinder& finder, std::vector<int> devices);

}  // namespace weft::topology
