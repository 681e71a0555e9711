// Two surveys compared. Of the same machine (host and guest, yesterday and today, one dialect and another) devices are
// matched by what stays with them, since guests renumber buses; of two machines that should be alike, by their place.
// Then it is told what was lost, added or changed.
//
// What one of both does not know is no difference.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "topology/diff/change.hpp"
#include "topology/survey.hpp"

namespace weft::topology {

struct DeviceMatch {
  int before = 0;  // node ids
  int after = 0;
  std::string_view by;  // "uuid", "guid", "mac", "card", "serial", "bus id", "structure", "order"
};

struct SurveyDiff {
  std::vector<DeviceMatch> matches;  // GPUs, then NICs, host by host
  std::vector<Change> changes;
};

enum class Relation : std::uint8_t {
  Same,   // one machine, looked at twice
  Alike,  // two machines: what is each one's own, such as names, addresses and serial numbers, is no difference
};

SurveyDiff diff_surveys(const Survey& before, const Survey& after, Relation relation = Relation::Same);

}  // namespace weft::topology
