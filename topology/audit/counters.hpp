// Error counters of ports that rose between two surveys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/audit/audit.hpp"

namespace weft::topology::audit {

struct Rise {
  std::string subject;  // "mlx5_0 (0000:c1:00.0)"
  std::string counter;
  std::uint64_t count = 0;
  double per_hour = 0;
  bool ethernet = false;
};

// Of ports that both surveys have; none without a survey before, or where a counter fell (it was reset).
std::vector<Rise> rising_counters(const Input& input);

}  // namespace weft::topology::audit
