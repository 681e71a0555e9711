// When a wait spins, yields and looks around, and how it learns that others want its core.
#include "comm/patience.hpp"

#include <gtest/gtest.h>

namespace weft::comm {
namespace {

using std::chrono::milliseconds;

constexpr Crowding::Clock::time_point kStart{};

TEST(Crowding, what_is_known_does_not_change) {
  Crowding crowding(true);
  EXPECT_TRUE(crowding.crowded());
  crowding.look(Crowding::Clock::now());
  EXPECT_TRUE(crowding.crowded());
}

TEST(Crowding, a_core_that_is_taken_away_again_and_again_is_wanted_by_others) {
  const auto self = std::this_thread::get_id();
  Crowding crowding(false);
  crowding.learn(self, kStart, 1000);
  EXPECT_FALSE(crowding.crowded());
  crowding.learn(self, kStart + milliseconds(20), 1001);
  EXPECT_FALSE(crowding.crowded()) << "once may be an interrupt";
  crowding.learn(self, kStart + milliseconds(40), 1003);
  EXPECT_TRUE(crowding.crowded());
  crowding.learn(self, kStart + milliseconds(60), 1003);
  EXPECT_FALSE(crowding.crowded());
}

TEST(Crowding, over_a_long_time_a_few_interruptions_are_nobody) {
  const auto self = std::this_thread::get_id();
  Crowding crowding(false);
  crowding.learn(self, kStart, 0);
  crowding.learn(self, kStart + milliseconds(1000), 20);
  EXPECT_FALSE(crowding.crowded());
  crowding.learn(self, kStart + milliseconds(2000), 200);
  EXPECT_TRUE(crowding.crowded());
}

TEST(Crowding, what_one_thread_lost_says_nothing_of_another) {
  Crowding crowding(false);
  crowding.learn(std::this_thread::get_id(), kStart, 0);
  crowding.learn(std::thread::id(), kStart + milliseconds(20), 1000);
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
