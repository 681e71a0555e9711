// The Access Control Services of a PCIe bridge, from its configuration space.
#pragma once

#include <functional>
#include <optional>

#include "topology/facts/facts.hpp"

namespace weft::topology {

// The 32 bits at that offset; nothing where the space ends, or may not be read.
using ConfigSpace = std::function<std::optional<std::uint32_t>(unsigned offset)>;

// All off if the bridge has no such capability. Nothing where the space comes back short: without root it ends after 64
// bytes, of devices that are no PCIe ones after 256; or where a device that is gone answers with ones.
std::optional<AcsFacts> read_acs(const ConfigSpace& config);

}  // namespace weft::topology
