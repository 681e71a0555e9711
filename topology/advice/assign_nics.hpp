// Which NIC serves which device: the nearest, evenly shared.
#pragma once

#include <vector>

#include "topology/path_finder.hpp"

namespace weft::topology::advice {

struct NicShare {
  std::vector<int> nics;
  PathClass farthest = PathClass::None;
};

// For each device its NICs. With fewer NICs than devices each NIC serves as many devices as any other, or one more, at
// the least distance in all; with more, a NIC beyond the first goes to the nearest device that has fewest, if it is as
// near as that device's own. Devices of which nothing is known (`Unknown`) get none.
std::vector<NicShare> assign_nics(PathFinder& finder, const std::vector<int>& devices, const std::vector<int>& nics);

}  // namespace weft::topology::advice
