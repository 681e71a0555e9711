// How matched devices hang together before and after: the switches above them, the links between them.
#pragma once

#include <map>
#include <vector>

#include "topology/diff/match.hpp"

namespace weft::topology {

struct MatchedDevices {
  explicit MatchedDevices(const std::vector<DeviceMatch>& matches);

  std::map<int, int> before_to_after;
  std::map<int, int> after_to_before;
};

// Whether a source tells what is between devices and their NUMA node: where one does not, nothing is lost.
bool tells_bridges(const Side& side, int host);

// Adds what was lost, added or changed. Switches are the same if the same devices are below them.
void compare_wiring(const Side& before, const Side& after, const HostMatch& host, const MatchedDevices& devices,
                    SurveyDiff& diff);

}  // namespace weft::topology
