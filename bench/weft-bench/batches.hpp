// How many calls make a batch, and how many batches a measurement has. bench/comparison/programs/loop.h has the same
// rules for the peers.
#pragma once

#include <optional>

namespace weft::bench {

inline constexpr int kMaxBatchCalls = 100'000;
// Calls that take longer are made less often: five batches of them take more than a second.
inline constexpr double kLongCallUs = 200'000;

struct Batches {
  int batches = 0;
  int calls = 0;                    // in each
  int longer = 0;                   // the first so many have one more
  std::optional<double> budget_us;  // what all of them may take; else none is left out
};

// So many calls.
Batches fixed(int iterations);
// As many as fit `budget_s` if a call takes `call_us`.
Batches within_budget(double call_us, double budget_s);

// Whether the time is looked at before the batch of this number, counted from 0. An estimate may be far too low, where
// ranks share cores; looking disturbs, so it is done after 5 batches and whenever their number has doubled.
bool is_time_looked_at(int batch);

}  // namespace weft::bench
