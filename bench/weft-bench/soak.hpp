// --soak: random calls on several communicators and threads at once, each result checked, for a given time.
//
// Every thread of a rank has a communicator of its own over all ranks. What the threads of a number do is drawn from
// one seed: the same on all ranks, another in each thread.
#pragma once

#include <cstdint>

#include "bench/weft-bench/arguments.hpp"
#include "bench/weft-bench/runner.hpp"
#include "weft/communicator.hpp"

namespace weft::bench {

// InvalidArgument if there would be nothing to draw.
Status check_soak(const Arguments& arguments);
std::uint64_t soak_memory_of_a_rank(const Arguments& arguments);

// Collective. What differs is told on standard error, with the seed that brings it back.
Result<Summary> soak(Communicator& communicator, const Arguments& arguments);

}  // namespace weft::bench
