// The clock: batches (batches.hpp) of back-to-back calls, each batch counted as its slowest rank saw it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weft/communicator.hpp"

namespace weft::bench {

struct TimingSettings {
  int iterations = 0;  // 0: as many as fit budget_s
  int warmup = 5;      // where calls are long and iterations 0, one
  double budget_s = 0.2;
};

// Microseconds for one call.
struct Timing {
  double min_us = 0;
  double median_us = 0;
  double p99_us = 0;
};

// Collective: every rank times the same number of calls, round robin over `calls`.
Result<Timing> time_calls(Communicator& communicator, std::span<const Operation> calls, const TimingSettings& settings);

// The value that `share` of the others are below: 0 the least, 0.5 the median, 1 the largest. Only of some.
double quantile(std::vector<double> values, double share);

// Every rank gets the largest (sum) of the ranks' values.
Status agree_on_max(Communicator& communicator, std::span<double> values);
Status agree_on_sum(Communicator& communicator, std::span<std::uint64_t> values);

}  // namespace weft::bench
