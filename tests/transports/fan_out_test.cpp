// Slots that several lanes send from: who holds them, when they are free again, and messages that refer to a source.
#include "transports/fan_out.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "transports/slot_receiver.hpp"
#include "transports/slot_sender.hpp"

namespace weft::transports {
namespace {

constexpr Signature kCall = {1, 2, 3};
constexpr std::size_t kSlotBytes = 16384;
constexpr std::size_t kReceivers = 2;

// One rank's memory and its lanes to two others, in the memory of this thread.
class FanOutTest : public ::testing::Test {
 protected:
  struct Lane {
    Lane(const RegionTable& ours, const RegionTable& theirs, FanOut* fan_out)
        : memory(new (std::align_val_t{64}) std::byte[RingLayout{kSlotBytes}.ring_bytes()]()),
          sender(memory, RingLayout{kSlotBytes}, {.regions = &ours}) {
      if (fan_out != nullptr) sender.share(*fan_out);
      receiver.attach(memory, RingLayout{kSlotBytes}, {.regions = &theirs});
    }
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;
    ~Lane() { ::operator delete[](memory, std::align_val_t{64}); }

    std::string_view received(std::size_t bytes) {
      const void* const lent = receiver.receive(bytes, nullptr, kCall);
      return lent == nullptr ? "" : std::string_view(static_cast<const char*>(lent), bytes);
    }

    std::byte* memory;
    SlotSender sender;
    SlotReceiver receiver;
  };

  FanOutTest() : memory_(FanOutMemory::bytes(kSlotBytes)), fan_outs_(memory_.data(), kSlotBytes) {
    ours_.add(fan_outs_.region());
    theirs_.add(fan_outs_.region());
    fan_out_ = fan_outs_.open(7);
    for (auto& lane : lanes_) lane = std::make_unique<Lane>(ours_, theirs_, fan_out_);
  }

  std::byte* filled(std::string_view text) {
    std::byte* const slot = fan_out_->acquire();
    if (slot != nullptr) std::memcpy(slot, text.data(), text.size());
    return slot;
  }

  std::vector<std::byte> memory_;
  FanOutMemory fan_outs_;
  RegionTable ours_;
  RegionTable theirs_;
  FanOut* fan_out_ = nullptr;
  std::array<std::unique_ptr<Lane>, kReceivers> lanes_;
};

TEST_F(FanOutTest, what_is_put_once_is_read_where_it_lies_by_all) {
  const std::string text(1000, 'a');
  std::byte* const slot = filled(text);
  for (auto& lane : lanes_) ASSERT_TRUE(lane->sender.send(slot, text.size(), kCall));
  for (auto& lane : lanes_) {
    const std::string_view got = lane->received(text.size());
    EXPECT_EQ(got, text);
    EXPECT_EQ(static_cast<const void*>(got.data()), slot);
    lane->receiver.release();
  }
}

TEST_F(FanOutTest, a_slot_is_not_given_out_while_one_of_them_may_read_it) {
  const std::string text(1000, 'b');
  std::set<std::byte*> slots;
  for (std::size_t i = 0; i < FanOut::kSlots; ++i) {
    std::byte* const slot = filled(text);
    EXPECT_TRUE(slots.insert(slot).second);
    for (auto& lane : lanes_) ASSERT_TRUE(lane->sender.send(slot, text.size(), kCall));
  }
  EXPECT_EQ(fan_out_->acquire(), nullptr);
  ASSERT_EQ(lanes_[0]->received(text.size()), text);
  lanes_[0]->receiver.release();
  EXPECT_EQ(fan_out_->acquire(), nullptr);
  const std::string_view last = lanes_[1]->received(text.size());
  const auto* const given_back = reinterpret_cast<const std::byte*>(last.data());
  lanes_[1]->receiver.release();
  EXPECT_EQ(fan_out_->acquire(), given_back);
}

TEST_F(FanOutTest, such_a_message_is_done_when_it_is_posted_and_its_credit_comes_at_once) {
  const std::string text(1000, 'c');
  ASSERT_TRUE(lanes_[0]->sender.send(filled(text), text.size(), kCall));
  EXPECT_EQ(lanes_[0]->sender.done(), 1U);
  EXPECT_EQ(lanes_[0]->sender.shared_until(), 1U);
  ASSERT_EQ(lanes_[0]->received(text.size()), text);
  lanes_[0]->receiver.release();
  lanes_[0]->sender.learn_credit();
  EXPECT_EQ(lanes_[0]->sender.shared_until(), 0U);
}

TEST_F(FanOutTest, no_slot_is_held_once_the_last_message_from_one_was_given_back) {
  const std::string text(1000, 'g');
  SlotSender& sender = lanes_[0]->sender;
  for (const std::size_t message : {1, 2, 3, 4}) {
    const bool from_slot = message == 2;
    ASSERT_TRUE(
        sender.send(from_slot ? filled(text) : reinterpret_cast<const std::byte*>(text.data()), text.size(), kCall));
    EXPECT_EQ(sender.shared_until(), message < 2 ? 0U : 2U);
  }
  for (const std::uint64_t held : {2, 0}) {
    ASSERT_EQ(lanes_[0]->received(text.size()), text);
    lanes_[0]->receiver.release();
    sender.learn_credit();
    EXPECT_EQ(sender.shared_until(), held);
  }
}

TEST_F(FanOutTest, a_message_from_a_region_of_its_own_is_done_when_it_was_given_back) {
  std::vector<char> source(kSlotBytes, 'd');
  ours_.add({1, reinterpret_cast<std::byte*>(source.data()), source.size()});
  theirs_.add({1, reinterpret_cast<std::byte*>(source.data()), source.size()});
  Lane& lane = *lanes_[0];
  const std::string small(100, 'e');
  ASSERT_TRUE(lane.sender.send(small.data(), small.size(), kCall));
  ASSERT_TRUE(lane.sender.refers(source.data(), source.size()));
  EXPECT_EQ(lane.sender.stage(source.size(), source.data()), nullptr);
  ASSERT_TRUE(lane.sender.send(source.data(), source.size(), kCall));
  ASSERT_TRUE(lane.sender.send(small.data(), small.size(), kCall));
  EXPECT_EQ(lane.sender.done(), 1U) << "the prefix ends before the one that may be read";
  ASSERT_EQ(lane.received(small.size()), small);
  lane.receiver.release();
  EXPECT_EQ(lane.sender.done(), 1U);
  const std::string_view got = lane.received(source.size());
  EXPECT_EQ(got.data(), source.data());
  lane.receiver.release();
  EXPECT_EQ(lane.sender.done(), 3U);
}

TEST_F(FanOutTest, a_place_that_is_not_mapped_is_no_message) {
  std::vector<char> source(kSlotBytes, 'f');
  ours_.add({1, reinterpret_cast<std::byte*>(source.data()), source.size()});
  Lane& lane = *lanes_[0];
  ASSERT_TRUE(lane.sender.send(source.data(), source.size(), kCall));
  EXPECT_EQ(lane.received(source.size()), "");
  EXPECT_TRUE(lane.receiver.unreadable());
  Unexpected what;
  EXPECT_FALSE(lane.receiver.unexpected(&what));
}

TEST(FanOutMemory, a_lane_number_has_one_and_it_is_given_back_with_its_last_lane) {
  std::vector<std::byte> memory(FanOutMemory::bytes(64));
  FanOutMemory fan_outs(memory.data(), 64);
  FanOut* const first = fan_outs.open(0);
  EXPECT_EQ(fan_outs.open(0), first);
  for (std::uint64_t lane = 1; lane < FanOutMemory::kFanOuts; ++lane) EXPECT_NE(fan_outs.open(lane), nullptr);
  EXPECT_EQ(fan_outs.open(1000), nullptr);
  fan_outs.close(0);
  EXPECT_EQ(fan_outs.open(1000), nullptr);
  fan_outs.close(0);
  EXPECT_NE(fan_outs.open(1000), nullptr);
  fan_outs.close(12345);  // of a lane that had none
}

// As a program does that makes and destroys communicators whose last messages are read later.
TEST(FanOutMemory, slots_that_may_still_be_read_are_nobody_elses_until_all_are_done_with_them) {
  std::vector<std::byte> memory(FanOutMemory::bytes(64));
  FanOutMemory fan_outs(memory.data(), 64);
  std::array<bool, kReceivers> read{};
  std::byte* const slot = fan_outs.open(0)->acquire();
  for (std::size_t receiver = 1; receiver < kReceivers; ++receiver) fan_outs.open(0);
  for (bool& by_one : read) fan_outs.close(0, [&by_one] { return by_one; });

  std::set<std::byte*> slots;
  for (std::uint64_t lane = 1; lane < FanOutMemory::kFanOuts; ++lane) {
    FanOut* const other = fan_outs.open(lane);
    ASSERT_NE(other, nullptr);
    for (std::size_t i = 0; i < FanOut::kSlots; ++i) slots.insert(other->acquire());
  }
  EXPECT_FALSE(slots.contains(slot));
  EXPECT_EQ(fan_outs.open(0), nullptr) << "of the same number, too";
  read[1] = true;
  EXPECT_EQ(fan_outs.open(0), nullptr);
  read[0] = true;
  FanOut* const again = fan_outs.open(0);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->acquire(), slot);
}

TEST(FanOutMemory, a_lane_number_that_is_still_open_keeps_its_slots_whoever_has_read_them) {
  std::vector<std::byte> memory(FanOutMemory::bytes(64));
  FanOutMemory fan_outs(memory.data(), 64);
  FanOut* const first = fan_outs.open(7);
  fan_outs.open(7);
  fan_outs.close(7, [] { return true; });
  for (std::uint64_t lane = 100; lane < 99 + FanOutMemory::kFanOuts; ++lane) EXPECT_NE(fan_outs.open(lane), nullptr);
  EXPECT_EQ(fan_outs.open(1000), nullptr);
  EXPECT_EQ(fan_outs.open(7), first);
}

TEST(FanOutMemory, without_memory_there_is_none) {
  FanOutMemory fan_outs(nullptr, 64);
  EXPECT_EQ(fan_outs.open(0), nullptr);
  fan_outs.close(0);
}

}  // namespace
}  // namespace weft::transports
