// The search for rings on one host: as many, and as fast, as its links carry together.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/path_finder.hpp"
#include "weft/graph.hpp"

namespace weft::topology {

struct FoundRings {
  std::vector<std::vector<std::size_t>> rings;  // of positions in `devices`, each starting with 0
  std::int64_t speed_kbs = 0;                   // of each, while all run
};

// At most `most` rings over all devices (three or more, at most 64) whose common speed times their number is as large
// as the search finds: every link carries in each direction what its rings need. At equal rates there are more rings
// where NVLink, XGMI or C2C joins neighbours, which one channel does not fill, and fewer elsewhere. No rings if there
// is no path. Bounded; the same on all machines.
FoundRings search_rings(PathFinder& finder, const Graph& graph, const std::vector<int>& devices, std::size_t most);

}  // namespace weft::topology
