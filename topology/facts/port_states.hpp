// The states of RDMA ports, as verbs numbers them and sysfs names them.
#pragma once

#include <optional>
#include <string>

namespace weft::topology {

// 4 -> "ACTIVE"; nothing for 0, which says that nothing is known, and for what is no state.
std::optional<std::string> port_state(int number);

}  // namespace weft::topology
