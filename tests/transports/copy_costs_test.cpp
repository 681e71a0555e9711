// Which way long messages take: by the costs of both, with the other tried now and then.
#include "transports/copy_costs.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace weft::transports {
namespace {

struct Costs {
  std::uint32_t slot_ns;
  std::uint32_t read_ns;
  std::uint32_t fill_ns;
};

constexpr std::size_t kSizes[] = {kMeasuredBytes, 2 * kMeasuredBytes, 4 * kMeasuredBytes};

// Of the next `messages` of that size, how many are read.
int reads(SenderCosts& sender, const Costs& costs, int messages, std::size_t bytes = kMeasuredBytes) {
  PublishedCosts published{};
  published[cost_size(bytes)].slot_ns = costs.slot_ns;
  published[cost_size(bytes)].read_ns = costs.read_ns;
  int read = 0;
  for (int message = 0; message < messages; ++message) {
    if (sender.read_next(bytes, published))
      ++read;
    else
      sender.learn_fill(kMeasuredBytes, costs.fill_ns);
  }
  return read;
}

// What is known of every size: `fill_ns` for kMeasuredBytes.
SenderCosts knowing(std::int64_t fill_ns) {
  SenderCosts sender;
  for (const std::size_t bytes : kSizes)
    sender.learn_fill(bytes, fill_ns * static_cast<std::int64_t>(bytes / kMeasuredBytes));
  return sender;
}

TEST(CopyCosts, until_both_are_known_the_ways_take_turns) {
  for (const Costs& costs : {Costs{0, 0, 1000}, Costs{1000, 0, 1000}, Costs{0, 1000, 1000}}) {
    SenderCosts sender;
    EXPECT_EQ(reads(sender, costs, 160), 80);
  }
}

TEST(CopyCosts, of_messages_one_way_reading_must_cost_less_than_half_of_both_ends_with_slots) {
  SenderCosts sender = knowing(1000);
  EXPECT_GT(reads(sender, {1000, 900, 1000}, 4096), 3900);
  EXPECT_LT(reads(sender, {1000, 1100, 1000}, 4096), 200);
}

TEST(CopyCosts, of_messages_both_ways_reading_must_cost_less_than_both_ends_with_slots) {
  SenderCosts sender = knowing(1000);
  sender.set_traffic(Traffic::BothWays);
  EXPECT_GT(reads(sender, {1000, 1900, 1000}, 4096), 3900);
  EXPECT_LT(reads(sender, {1000, 2100, 1000}, 4096), 200);
}

TEST(CopyCosts, what_is_reduced_is_never_read) {
  SenderCosts sender = knowing(1000);
  sender.set_traffic(Traffic::Reduced);
  EXPECT_EQ(reads(sender, {1000, 1, 1000}, 4096), 0);
  PublishedCosts published{};
  published[0].slot_ns = 1000;
  published[0].read_ns = 1;
  EXPECT_FALSE(sender.reads_cheaply(kMeasuredBytes, published));
}

TEST(CopyCosts, the_other_way_is_tried_now_and_then) {
  SenderCosts sender = knowing(1000);
  reads(sender, {1000, 900, 1000}, 4096);
  EXPECT_EQ(reads(sender, {1000, 900, 1000}, 512), 504);
  EXPECT_EQ(reads(sender, {1000, 3000, 1000}, 512), 8);
}

TEST(CopyCosts, what_holds_for_one_size_says_nothing_of_another) {
  SenderCosts sender = knowing(1000);
  EXPECT_GT(reads(sender, {1000, 500, 1000}, 1024, kSizes[2]), 900);
  EXPECT_LT(reads(sender, {1000, 1500, 1000}, 1024, kSizes[0]), 200);
  EXPECT_GT(reads(sender, {1000, 500, 1000}, 1024, kSizes[1]), 900);
}

TEST(CopyCosts, a_shared_slot_is_left_only_if_reading_is_cheaper_than_emptying_it) {
  const SenderCosts sender;
  PublishedCosts published{};
  EXPECT_FALSE(sender.reads_cheaply(kMeasuredBytes, published));
  published[0].slot_ns = 1000;
  EXPECT_FALSE(sender.reads_cheaply(kMeasuredBytes, published));
  published[0].read_ns = 1200;
  EXPECT_FALSE(sender.reads_cheaply(kMeasuredBytes, published));
  published[0].read_ns = 900;
  EXPECT_TRUE(sender.reads_cheaply(kMeasuredBytes, published));
  EXPECT_FALSE(sender.reads_cheaply(2 * kMeasuredBytes, published));
}

TEST(CopyCosts, the_first_fill_is_timed_and_then_one_in_sixteen) {
  SenderCosts sender;
  EXPECT_TRUE(sender.measures_fill(kMeasuredBytes));
  EXPECT_TRUE(sender.measures_fill(kMeasuredBytes));
  sender.learn_fill(kMeasuredBytes, 1000);
  EXPECT_TRUE(sender.measures_fill(2 * kMeasuredBytes));
  int measured = 0;
  for (int fill = 0; fill < 160; ++fill) measured += sender.measures_fill(kMeasuredBytes) ? 1 : 0;
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
  EXPECT_EQ(published[0].read_ns.load(), 0U);
  receiver.begin(kMeasuredBytes, true);
  receiver.end(published);
  EXPECT_GT(published[0].read_ns.load(), 0U);
  EXPECT_EQ(published[0].slot_ns.load(), 0U);
  for (int message = 0; message < 4; ++message) {
    receiver.begin(kMeasuredBytes, false);
    receiver.end(published);
  }
  EXPECT_GT(published[0].slot_ns.load(), 0U);
  EXPECT_EQ(published[1].slot_ns.load(), 0U);
}

}  // namespace
}  // namespace weft::transports
