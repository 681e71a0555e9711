// One rank's part of the whole benchmark: every collective, type, op and size, checked and timed.
#pragma once

#include <string>

#include "bench/weft-bench/arguments.hpp"
#include "weft/communicator.hpp"

namespace weft::bench {

// Collective. True if no result was wrong. Rank 0 prints the table and writes the JSON file.
Result<bool> run_benchmark(Communicator& communicator, const Arguments& arguments);

// The memory that the largest size of `arguments` takes on each of `ranks` ranks.
std::uint64_t memory_of_a_rank(const Arguments& arguments, int ranks);

}  // namespace weft::bench
