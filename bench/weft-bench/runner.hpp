// One rank's part of the whole benchmark: every collective, type, op and size, checked and timed.
#pragma once

#include <cstdint>

#include "bench/weft-bench/arguments.hpp"
#include "weft/communicator.hpp"

namespace weft::bench {

struct Summary {
  std::uint64_t wrong = 0;  // elements, on all ranks
  Status told;  // on rank 0: why the table or the file could not be written; on the others: that the table could not
};
// Collective. Rank 0 prints the table and writes the JSON file; if it cannot, all ranks stop. All are given the same
// arguments.
Result<Summary> run_benchmark(Communicator& communicator, const Arguments& arguments);

}  // namespace weft::bench
