// What several rules ask of one host, worked out at the first question: an audit of a thousand hosts asks each of them
// dozens of times.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "topology/audit/loads.hpp"
#include "topology/audit/near_nics.hpp"

namespace weft::topology {
struct DeviceFacts;
}

namespace weft::topology::audit {

struct HostAnswers {
  std::optional<std::vector<int>> accelerators;
  std::optional<std::vector<int>> usable_nics;
  std::optional<Nearness> nearness;
  std::optional<std::vector<LinkLoad>> pcie_loads;
  // By name of the node and by bus id, of the survey.
  std::optional<std::unordered_map<std::string_view, const DeviceFacts*>> devices;

  // What `slot` holds, after `make` filled it if it was empty.
  template <typename T, typename Make>
  static const T& once(std::optional<T>& slot, Make make) {
    if (!slot) slot.emplace(make());
    return *slot;
  }
};

}  // namespace weft::topology::audit
