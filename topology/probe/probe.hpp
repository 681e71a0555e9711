// probe(), and whether hwloc may ask vendors' libraries for it in this very process. Where it is built with them, hwloc
// loads NVML, ROCm SMI and Level Zero: they may block, and a survey asks them elsewhere.
#pragma once

#include "topology/probe/hwloc_objects.hpp"
#include "weft/graph.hpp"

namespace weft::topology {

Result<Graph> probe_with(const ProbeOptions& options, VendorBackends backends);

}  // namespace weft::topology
