// What a source says of a link that may have been idle when it looked.
#pragma once

#include <optional>

#include "topology/locality.hpp"

namespace weft::topology {

// The rate of a GPU's link that may be that of an idle GPU: hwloc XML tells what a link does now, not what it can do,
// and GPUs go down to 2.5 GT/s. Nothing says how many lanes it has, so what it can do stays unknown. Nothing where all
// that is told is faster.
std::optional<double> idle_rate(const Locality& locality, int gpu);
// The same of the port above the GPU, which is the other end of its link: it shows the rate of the moment where the GPU
// itself shows its best one, as hwloc with NVML does.
std::optional<double> idle_rate_above(const Locality& locality, int gpu);

}  // namespace weft::topology
