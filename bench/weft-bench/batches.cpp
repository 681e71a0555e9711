// Numbers that were found once, on the way between what the clock costs and how long a user waits.
#include "bench/weft-bench/batches.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weft::bench {
namespace {

constexpr double kBatchUs = 30;  // a clock read is about 22 ns: below a thousandth
constexpr int kMinBatches = 5;
constexpr int kMaxBatches = 1000;  // enough for a 99th percentile

// At least: of long calls as many as fit the time of kMinBatches that are not.
double fewest(double call_us) { return std::clamp(kMinBatches * kLongCallUs / call_us, 1.0, double{kMinBatches}); }

}  // namespace

Batches fixed(int iterations) {
  const int batches = std::min(iterations, 100);
  return {batches, iterations / batches, iterations % batches, {}};
}

Batches within_budget(double call_us, double budget_s) {
  const double budget_us = budget_s * 1e6;
  const double calls = std::clamp(std::ceil(kBatchUs / call_us), 1.0, static_cast<double>(kMaxBatchCalls));
  const double batches = std::clamp(budget_us / (calls * call_us), fewest(call_us), static_cast<double>(kMaxBatches));
  return {static_cast<int>(batches), static_cast<int>(calls), 0, budget_us};
}

bool is_time_looked_at(int batch) {
  return batch > 0 && batch % kMinBatches == 0 && std::has_single_bit(static_cast<unsigned>(batch / kMinBatches));
}

}  // namespace weft::bench
