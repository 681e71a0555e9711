// Which calls the arguments ask for, and how much memory they need.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bench/weft-bench/arguments.hpp"
#include "bench/weft-bench/workload.hpp"

namespace weft::bench {

// Everything to measure, in order. A size that rounds to the same call as the one before is left out.
std::vector<Case> all_cases(const Arguments& arguments, int ranks);

// The largest input and output of any rank.
std::pair<std::uint64_t, std::uint64_t> buffer_bytes(const Arguments& arguments, int ranks);

// InvalidArgument if there would be nothing to measure.
Status check_cases(const Arguments& arguments, int ranks);

// The memory that the largest size of `arguments` takes on each of `ranks` ranks.
std::uint64_t memory_of_a_rank(const Arguments& arguments, int ranks);

}  // namespace weft::bench
