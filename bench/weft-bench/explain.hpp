// --explain: what would run, and why, for every size that would be measured.
#pragma once

#include "bench/weft-bench/arguments.hpp"
#include "bench/weft-bench/runner.hpp"
#include "weft/communicator.hpp"

namespace weft::bench {

// Collective. Rank 0 prints; nothing is measured.
Result<Summary> explain(Communicator& communicator, const Arguments& arguments);

}  // namespace weft::bench
