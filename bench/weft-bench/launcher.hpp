// Starts the ranks of -n: this program again, once per rank, with Weft's variables set. Waits for all; when one fails,
// or on Ctrl-C, ends the others. Nothing that it started outlives it.
#pragma once

#include <string>
#include <vector>

#include "weft/status.hpp"

namespace weft::bench {

struct LaunchSettings {
  int ranks = 1;
  std::vector<int> hosts;  // ranks of each emulated host, together `ranks`; empty: one host, and not emulated
  bool pin = true;
};

// The exit status for the whole run: 0, or that of the first rank that failed, or 128 + the signal that ended the run.
Result<int> launch_local_ranks(const LaunchSettings& settings, char** argv);

// In a rank that launch_local_ranks started: how it placed them, in words. Empty elsewhere.
std::string local_placement();

}  // namespace weft::bench
