// send_recv: latency and bandwidth of messages between the first rank and the last; the others wait.
#pragma once

#include "bench/weft-bench/arguments.hpp"
#include "bench/weft-bench/runner.hpp"
#include "weft/communicator.hpp"

namespace weft::bench {

// Collective, of two ranks or more. Rank 0 prints the table and writes the JSON file.
Result<Summary> measure_messages(Communicator& communicator, const Arguments& arguments);

}  // namespace weft::bench
