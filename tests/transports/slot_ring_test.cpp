// One direction of a lane in the memory of this thread: where messages are written, and how.
#include "transports/slot_receiver.hpp"
#include "transports/slot_sender.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string_view>

namespace weft::transports {
namespace {

constexpr Signature kCall = {1, 2, 3};

class SlotRing : public ::testing::Test {
 protected:
  SlotRing() : memory_(new (std::align_val_t{64}) std::byte[layout_.ring_bytes()]()), sender_(memory_, layout_) {
    receiver_.attach(memory_, layout_);
  }
  ~SlotRing() override { ::operator delete[](memory_, std::align_val_t{64}); }

  std::string_view received(std::size_t bytes) {
    const void* const lent = receiver_.receive(bytes, nullptr, kCall);
    return lent == nullptr ? "" : std::string_view(static_cast<const char*>(lent), bytes);
  }

  RingLayout layout_{4096};
  std::byte* memory_;
  SlotSender sender_;
  SlotReceiver receiver_;
};

TEST_F(SlotRing, a_staged_message_is_taken_where_it_was_written) {
  for (int message = 0; message < 40; ++message) {
    const std::string text(1000, static_cast<char>('a' + message % 26));
    std::byte* const stage = sender_.stage(text.size(), nullptr);
    ASSERT_NE(stage, nullptr);
    std::memcpy(stage, text.data(), text.size());
    ASSERT_TRUE(sender_.send(stage, text.size(), kCall));
    ASSERT_EQ(received(text.size()), text);
    receiver_.release();
  }
}

TEST_F(SlotRing, what_is_not_sent_from_the_stage_is_copied) {
  const std::string text(500, 'x');
  std::byte* const stage = sender_.stage(text.size(), nullptr);
  std::memset(stage, 'y', text.size());
  ASSERT_TRUE(sender_.send(text.data(), text.size(), kCall));
  EXPECT_EQ(received(text.size()), text);
}

TEST_F(SlotRing, there_is_no_stage_for_what_travels_in_a_line_or_has_no_room) {
  EXPECT_EQ(sender_.stage(40, nullptr), nullptr);
  const std::string text(41, 'z');
  for (std::uint64_t message = 0; message < kSlots; ++message)
    ASSERT_TRUE(sender_.send(text.data(), text.size(), kCall));
  EXPECT_EQ(sender_.stage(41, nullptr), nullptr);
}

TEST(Filler, takes_a_receiver_for_far_after_two_slow_fills_and_for_near_after_a_fast_one) {
  Filler filler;
  const auto slow = [&] { filler.learn(4096, 1000); };
  const auto fast = [&] { filler.learn(4096, 200); };
  slow();
  EXPECT_FALSE(filler.far());
  fast();
  slow();
  EXPECT_FALSE(filler.far());
  slow();
  EXPECT_TRUE(filler.far());
  slow();
  EXPECT_TRUE(filler.far());
  fast();
  EXPECT_FALSE(filler.far());
}

TEST(Filler, copies_alike_whatever_it_takes_the_receiver_for) {
  Filler filler;
  std::vector<std::byte> from(10'000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 31);
  for (int round = 0; round < 200; ++round) {
    filler.learn(4096, round % 5 < 3 ? 1000 : 100);
    std::vector<std::byte> to(from.size() + 1);
    filler.fill(to.data() + 1, from.data(), from.size());
    ASSERT_TRUE(std::equal(from.begin(), from.end(), to.begin() + 1)) << round;
  }
}

}  // namespace
}  // namespace weft::transports
