// Words of port states.
#include "topology/facts/port_states.hpp"

#include <array>
#include <cstddef>

namespace weft::topology {

std::optional<std::string> port_state(int number) {
  constexpr std::array kWords = {"DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  if (number < 1 || static_cast<std::size_t>(number) > kWords.size()) return std::nullopt;
  return kWords[static_cast<std::size_t>(number) - 1];
}

}  // namespace weft::topology
