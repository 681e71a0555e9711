// What rings over several hosts are put together from: of each host its ranks, the cycles of its devices, and where
// rings may enter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

namespace weft::topology {

struct HostRings {
  std::vector<int> ranks;                    // in rank order
  std::map<int, std::vector<int>> ranks_on;  // device -> ranks
  std::vector<std::vector<int>> cycles;      // of devices
  std::vector<int> entries;                  // devices at which rings may enter, one per NIC
  std::map<int, std::size_t> rail_of;        // device -> the NIC it uses, as a position in `entries`
};

inline std::size_t position_in(const std::vector<int>& cycle, int device) {
  return static_cast<std::size_t>(std::find(cycle.begin(), cycle.end(), device) - cycle.begin());
}

// The device that stands so many places behind another on a cycle.
inline int device_behind(const std::vector<int>& cycle, int device, std::size_t places) {
  return cycle[(position_in(cycle, device) + places) % cycle.size()];
}

}  // namespace weft::topology
