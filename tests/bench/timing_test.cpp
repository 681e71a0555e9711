// The clock: how many calls it is held to.
#include "bench/weft-bench/timing.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weft::bench {
namespace {

TEST(Timing, as_many_calls_are_timed_as_were_asked_for) {
  Options alone;
  alone.rank = 0;
  alone.size = 1;
  auto communicator = Communicator::create(alone);
  ASSERT_TRUE(communicator.has_value()) << communicator.error().to_string();
  // Calls are made in turn, and the one behind these is refused.
  constexpr int kGood = 150;
  std::vector<Operation> calls(kGood, barrier());
  calls.push_back(barrier());
  calls.back().count = 1;
  for (const int iterations : {1, 99, kGood}) {
    const auto timed = time_calls(*communicator, calls, {.iterations = iterations, .warmup = 0});
    EXPECT_TRUE(timed.has_value()) << iterations << ": " << timed.status().to_string();
  }
  EXPECT_FALSE(time_calls(*communicator, calls, {.iterations = kGood + 1, .warmup = 0}).has_value());
}

}  // namespace
}  // namespace weft::bench
