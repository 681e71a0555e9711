// What can be seen to go wrong before any rank runs.
#pragma once

#include "bench/weft-bench/arguments.hpp"
#include "weft/status.hpp"

namespace weft::bench {

// `ranks` in all, `local_ranks` of them to be counted against this machine's memory. InvalidArgument says what to
// change.
Status check_before(const Arguments& arguments, int ranks, int local_ranks);

}  // namespace weft::bench
