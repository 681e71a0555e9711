// Two surveys of the same machine: host and guest, yesterday and today, one dialect and another. Devices are matched by
// what stays with them, since guests renumber buses; then it is told what was lost, added or changed.
//
// What one of both does not know is no difference.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topology/survey.hpp"

namespace weft::topology {

enum class ChangeKind : std::uint8_t { Lost, Added, Changed };
std::string_view to_string(ChangeKind kind);

struct Change {
  ChangeKind kind = ChangeKind::Changed;
  std::string subject;  // "gpu3 (0000:c1:00.0)", as the first survey calls it, or the second if it was added
  std::string what;     // "PCIe switch", "NUMA node", "kernel.version"
  std::string before;   // empty: nothing, or not known any more
  std::string after;

  bool operator==(const Change&) const = default;
};

struct DeviceMatch {
  int before = 0;  // node ids
  int after = 0;
  std::string_view by;  // "uuid", "guid", "mac", "card", "serial", "bus id", "structure", "order"
};

struct SurveyDiff {
  std::vector<DeviceMatch> matches;  // GPUs, then NICs, host by host
  std::vector<Change> changes;
};

SurveyDiff diff_surveys(const Survey& before, const Survey& after);

}  // namespace weft::topology
