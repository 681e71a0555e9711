// When a wait spins, yields and looks around, and how it learns that others want its core.
#include "comm/patience.hpp"

#include <gtest/gtest.h>

namespace weft::comm {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

TEST(Crowding, what_is_known_does_not_change) {
  Crowding crowding(true);
  EXPECT_TRUE(crowding.crowded());
  for (int i = 0; i < 1000; ++i) crowding.learn(nanoseconds(200));
  EXPECT_TRUE(crowding.crowded());
}

TEST(Crowding, one_long_yield_may_be_an_interrupt_and_two_are_others) {
  Crowding crowding(false);
  EXPECT_FALSE(crowding.crowded());
  crowding.learn(microseconds(5));
  EXPECT_FALSE(crowding.crowded());
  crowding.learn(microseconds(5));
  EXPECT_TRUE(crowding.crowded());
}

TEST(Crowding, it_is_over_when_many_yields_find_nobody) {
  Crowding crowding(false);
  for (int i = 0; i < 1000; ++i) crowding.learn(microseconds(5));
  for (int i = 0; i < 300; ++i) crowding.learn(nanoseconds(200));
  EXPECT_TRUE(crowding.crowded());
  for (int i = 0; i < 100; ++i) crowding.learn(nanoseconds(200));
  EXPECT_FALSE(crowding.crowded());
}

// Bounded by far more rounds than it needs.
TEST(Patience, it_looks_around_every_two_milliseconds_however_long_nothing_moves) {
  for (const bool oversubscribed : {false, true}) {
    Crowding crowding(oversubscribed);
    Patience patience(crowding);
    int rounds = 0;
    while (rounds < 100'000'000 && !patience.pause()) ++rounds;
    EXPECT_LT(rounds, 100'000'000);
    EXPECT_GE(patience.idle_ms(), 2);
    patience.reset();
    EXPECT_EQ(patience.idle_ms(), 0);
  }
}

}  // namespace
}  // namespace weft::comm
