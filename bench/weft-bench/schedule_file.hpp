// What --schedule names: a schedule of a file, to be run or compared.
#pragma once

#include <string>

#include "algorithms/loaded_schedules.hpp"
#include "bench/weft-bench/arguments.hpp"
#include "bench/weft-bench/words.hpp"
#include "weft/status.hpp"

namespace weft::bench {

// Proved; none without --schedule.
Result<algorithms::LoadedSchedules> loaded_schedule(const Arguments& arguments);

// What is measured with --schedule is what the file holds: its collective, on its ranks, with its root. Whether it is
// right is found out when the communicator is made.
Status convert_schedule(Words& words, Arguments& arguments);

}  // namespace weft::bench
