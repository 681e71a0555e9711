// Whether the IOMMU translates the addresses of devices.
#pragma once

#include "topology/facts/facts.hpp"

namespace weft::topology::audit {

// By the type of the default domain; where that is not known, by the kernel's command line.
bool is_translated(const KernelFacts& kernel);

}  // namespace weft::topology::audit
