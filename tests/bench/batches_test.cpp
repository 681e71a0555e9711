// How many calls are measured: many short ones, few long ones, and never more than the time allows.
#include "bench/weft-bench/batches.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace weft::bench {
namespace {

TEST(Batches, short_calls_are_counted_together) {
  const Batches batches = within_budget(0.1, 0.2);
  EXPECT_EQ(batches.calls, 300);
  EXPECT_EQ(batches.batches, 1000);
  EXPECT_EQ(within_budget(15, 0.1).calls, 2);
  EXPECT_EQ(within_budget(1e-6, 0.2).calls, kMaxBatchCalls);
}

TEST(Batches, as_many_are_made_as_fit_the_time) {
  EXPECT_EQ(within_budget(8000, 0.1).batches, 12);
  EXPECT_EQ(within_budget(8000, 0.1).budget_us, 0.1e6);
  EXPECT_EQ(within_budget(8000, 10).batches, 1000);
}

TEST(Batches, five_are_made_whatever_the_time_unless_they_take_more_than_a_second) {
  EXPECT_EQ(within_budget(50'000, 0.1).batches, 5);
  EXPECT_EQ(within_budget(kLongCallUs, 0.1).batches, 5);
  EXPECT_EQ(within_budget(330'000, 0.1).batches, 3);
  EXPECT_EQ(within_budget(4'000'000, 0.1).batches, 1);
  EXPECT_EQ(within_budget(4'000'000, 20).batches, 5);
}

TEST(Batches, calls_that_were_asked_for_are_all_made) {
  for (const int iterations : {1, 99, 100, 101, 12'345}) {
    const Batches batches = fixed(iterations);
    EXPECT_EQ(batches.batches * batches.calls + batches.longer, iterations);
    EXPECT_FALSE(batches.budget_us);
  }
}

TEST(Batches, the_time_is_looked_at_whenever_there_are_twice_as_many) {
  std::vector<int> looks;
  for (int batch = 0; batch < 1000; ++batch)
    if (is_time_looked_at(batch)) looks.push_back(batch);
  EXPECT_THAT(looks, ::testing::ElementsAre(5, 10, 20, 40, 80, 160, 320, 640));
}

}  // namespace
}  // namespace weft::bench
