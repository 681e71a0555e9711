// Which reductions of a schedule have their operands the wrong way round for an operator that does not commute.
#pragma once

#include <vector>

#include "weft/schedule.hpp"
#include "weft/status.hpp"

namespace weft::algorithms {

// By channel and step of `rank`: whether the second operand (the message, or src2) holds contributions of lower ranks
// than src, so that they must change places. The schedule has the steps of all ranks, was proved, and reduces
// neighbouring ranks only, as the canonical order of Numerics::Invariant does. Unsupported if a step would have to swap
// some of its chunks and not others.
Result<std::vector<std::vector<bool>>> swapped_operands(const Schedule& schedule, int rank);

}  // namespace weft::algorithms
