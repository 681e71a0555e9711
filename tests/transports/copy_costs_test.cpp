// Which way long messages take: by the costs of both, with the other tried now and then.
#include "transports/copy_costs.hpp"

#include <gtest/gtest.h>

namespace weft::transports {
namespace {

struct Costs {
  std::int64_t slot_ns;
  std::int64_t read_ns;
  std::int64_t fill_ns;
};

// Of the next `messages`, how many are read.
int reads(SenderCosts& sender, const Costs& costs, int messages) {
  PublishedCosts published{};
  published.slot_ns = static_cast<std::uint32_t>(costs.slot_ns);
  published.read_ns = static_cast<std::uint32_t>(costs.read_ns);
  int read = 0;
  for (int message = 0; message < messages; ++message) {
    if (sender.read_next(published))
      ++read;
    else
      sender.learn_fill(kMeasuredBytes, costs.fill_ns);
  }
  return read;
}

TEST(CopyCosts, until_both_are_known_the_ways_take_turns) {
  SenderCosts sender;
  EXPECT_EQ(reads(sender, {0, 0, 1000}, 10), 5);
  EXPECT_EQ(reads(sender, {1000, 0, 1000}, 10), 5);
  EXPECT_EQ(reads(sender, {0, 1000, 1000}, 10), 5);
}

TEST(CopyCosts, the_cheaper_way_is_taken_but_for_a_trial_of_the_other) {
  SenderCosts sender;
  sender.learn_fill(kMeasuredBytes, 1000);
  EXPECT_EQ(reads(sender, {1000, 1000, 1000}, 1280), 1270);
  EXPECT_EQ(reads(sender, {1000, 1900, 1000}, 1280), 10);
}

TEST(CopyCosts, a_shared_slot_is_left_only_if_reading_is_cheaper_than_emptying_it) {
  PublishedCosts published{};
  EXPECT_FALSE(SenderCosts::reads_cheaply(published));
  published.slot_ns = 1000;
  EXPECT_FALSE(SenderCosts::reads_cheaply(published));
  published.read_ns = 1200;
  EXPECT_FALSE(SenderCosts::reads_cheaply(published));
  published.read_ns = 900;
  EXPECT_TRUE(SenderCosts::reads_cheaply(published));
}

TEST(CopyCosts, the_first_fill_is_timed_and_then_one_in_sixteen) {
  SenderCosts sender;
  EXPECT_TRUE(sender.measures_fill());
  EXPECT_TRUE(sender.measures_fill());
  sender.learn_fill(kMeasuredBytes, 1000);
  int measured = 0;
  for (int fill = 0; fill < 160; ++fill) measured += sender.measures_fill() ? 1 : 0;
  EXPECT_EQ(measured, 10);
}

TEST(CopyCosts, one_interruption_does_not_change_the_way) {
  CopyCost cost;
  for (int i = 0; i < 20; ++i) cost.learn(2 * kMeasuredBytes, 2000);
  EXPECT_EQ(cost.ns(), 1000U);
  cost.learn(kMeasuredBytes, 4'000'000);
  EXPECT_LT(cost.ns(), 1400U);
  for (int i = 0; i < 60; ++i) cost.learn(kMeasuredBytes, 3000);
  EXPECT_GT(cost.ns(), 2800U);
}

TEST(CopyCosts, short_messages_are_not_measured) {
  ReceiverCosts receiver;
  PublishedCosts published{};
  receiver.begin(kMeasuredBytes - 1, true);
  receiver.end(published);
  EXPECT_EQ(published.read_ns.load(), 0U);
  receiver.begin(kMeasuredBytes, true);
  receiver.end(published);
  EXPECT_GT(published.read_ns.load(), 0U);
  EXPECT_EQ(published.slot_ns.load(), 0U);
  receiver.begin(kMeasuredBytes, false);
  receiver.end(published);
  EXPECT_GT(published.slot_ns.load(), 0U);
}

}  // namespace
}  // namespace weft::transports
