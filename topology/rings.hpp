// Orders of the devices of one host, so that neighbours are near: what rings over many hosts are put together from.
#pragma once

#include <vector>

#include "topology/path_finder.hpp"
#include "weft/graph.hpp"

namespace weft::topology {

// Cyclic orders of `devices` (distinct nodes of one host, at least one), each maximising the narrowest path between
// neighbours and, among such, following package, NUMA node and switch. One, or several that use no device-to-device
// link twice in the same direction, where NVLink or the like joins the devices. The first device of each order is the
// first of the containment order.
std::vector<std::vector<int>> host_cycles(const Graph& graph, PathFinder& finder, std::vector<int> devices);

}  // namespace weft::topology
