// Cards that show as several NICs but have one port.
#pragma once

#include <vector>

#include "topology/audit/audit.hpp"

namespace weft::topology::audit {

// Usable NICs with equal system image GUID at different places of the bus, card by card.
std::vector<std::vector<int>> shared_ports(const Input& input, int host);

}  // namespace weft::topology::audit
