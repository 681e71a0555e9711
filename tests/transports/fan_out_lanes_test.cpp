// Who has slots to share, and for how long, on lanes between ranks: lanes in turn, peers that read late, never, or have
// ended.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/transports/support/harness.hpp"
#include "tests/transports/support/shm_ends.hpp"
#include "transports/fan_out.hpp"

namespace weft::transports::testing {
namespace {

constexpr std::size_t kBytes = 1000;
constexpr std::uint64_t kLanesInTurn = 200;
static_assert(kLanesInTurn > 2 * FanOutMemory::kFanOuts);

std::vector<Kind> kinds_that_share() {
  std::vector<Kind> kinds = all_kinds();
  std::erase_if(kinds, [](const Kind& kind) { return kind.name != "local" && kind.name != "shm"; });
  return kinds;
}

// Rank 0 sends to rank 1.
class FanOutLanes : public ::testing::TestWithParam<Kind> {
 protected:
  static std::unique_ptr<Endpoint> open(Connection& connection, std::uint64_t lane) {
    auto end = connection.open_lane(lane);
    EXPECT_TRUE(end.has_value()) << end.status().to_string();
    return end ? std::move(end).value() : nullptr;
  }

  // Posts a message of pattern(kBytes, seed) from a shared slot. False: there is none.
  static bool post_shared(Endpoint& end, std::uint32_t seed) {
    FanOut* const fan_out = end.fan_out();
    std::byte* const slot = fan_out == nullptr ? nullptr : fan_out->acquire();
    if (slot == nullptr) return false;
    std::memcpy(slot, pattern(kBytes, seed).data(), kBytes);
    return end.send(slot, kBytes, signature(seed));
  }

  std::unique_ptr<Ranks> ranks_ = GetParam().make(3);
  std::unique_ptr<Connection> to_ = connect(*ranks_, 0, 1);
  std::unique_ptr<Connection> from_ = connect(*ranks_, 1, 0);
};
INSTANTIATE_TEST_SUITE_P(Transports, FanOutLanes, ::testing::ValuesIn(kinds_that_share()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(FanOutLanes, lanes_that_are_closed_before_the_peer_reads_share_slots_one_after_another) {
  for (std::uint32_t lane = 0; lane < kLanesInTurn; ++lane) {
    auto sender = open(*to_, lane);
    ASSERT_TRUE(post_shared(*sender, lane)) << "lane " << lane;
    sender.reset();
    auto receiver = open(*from_, lane);
    EXPECT_TRUE(expect_message(*receiver, kBytes, lane)) << "lane " << lane;
  }
}

TEST_P(FanOutLanes, slots_come_back_once_the_peer_has_read_though_it_keeps_its_lanes) {
  std::vector<std::unique_ptr<Endpoint>> kept;
  for (std::uint32_t lane = 0; lane < kLanesInTurn; ++lane) {
    auto sender = open(*to_, lane);
    ASSERT_TRUE(post_shared(*sender, lane)) << "lane " << lane;
    sender.reset();
    kept.push_back(open(*from_, lane));
    EXPECT_TRUE(expect_message(*kept.back(), kBytes, lane)) << "lane " << lane;
  }
}

TEST_P(FanOutLanes, slots_come_back_once_the_peer_has_closed_its_lane_without_reading) {
  for (std::uint32_t lane = 0; lane < kLanesInTurn; ++lane) {
    auto sender = open(*to_, lane);
    ASSERT_TRUE(post_shared(*sender, lane)) << "lane " << lane;
    sender.reset();
    auto receiver = open(*from_, lane);
    Unexpected what;
    EXPECT_TRUE(receiver->peek(&what));
  }
}

TEST_P(FanOutLanes, what_a_peer_has_not_read_is_not_overwritten_by_later_lanes) {
  constexpr std::uint32_t kUnread = 1'000'000;
  auto unread = open(*to_, kUnread);
  for (std::uint32_t message = 0; message < 3; ++message) ASSERT_TRUE(post_shared(*unread, kUnread + message));
  unread.reset();
  for (std::uint32_t lane = 0; lane < kLanesInTurn; ++lane) {
    auto sender = open(*to_, lane);
    auto receiver = open(*from_, lane);
    for (std::uint32_t message = 0; message < FanOut::kSlots; ++message)
      ASSERT_TRUE(post_shared(*sender, lane + message)) << "lane " << lane;
    sender.reset();
    for (std::uint32_t message = 0; message < FanOut::kSlots; ++message)
      EXPECT_TRUE(expect_message(*receiver, kBytes, lane + message)) << "lane " << lane;
  }
  auto late = open(*from_, kUnread);
  for (std::uint32_t message = 0; message < 3; ++message)
    EXPECT_TRUE(expect_message(*late, kBytes, kUnread + message)) << message;
}

TEST_P(FanOutLanes, a_peer_that_never_reads_keeps_its_slots_until_it_has_ended) {
  for (std::uint32_t lane = 0; lane < FanOutMemory::kFanOuts; ++lane) {
    auto sender = open(*to_, lane);
    ASSERT_TRUE(post_shared(*sender, lane)) << "lane " << lane;
  }
  const auto to_another = connect(*ranks_, 0, 2);
  auto sender = open(*to_another, FanOutMemory::kFanOuts);
  EXPECT_EQ(sender->fan_out(), nullptr);
  from_.reset();
  ranks_->end(1);
  EXPECT_TRUE(eventually([&] { return sender->fan_out() != nullptr; }));
}

TEST_P(FanOutLanes, lanes_that_never_ask_for_shared_slots_take_none) {
  std::vector<std::unique_ptr<Endpoint>> others;
  for (std::uint64_t lane = 0; lane < 2 * FanOutMemory::kFanOuts; ++lane) {
    others.push_back(open(*to_, lane));
    const std::vector<std::byte> data = pattern(kBytes, lane);
    ASSERT_TRUE(others.back()->send(data.data(), data.size(), signature(1)));
  }
  auto asking = open(*to_, 2 * FanOutMemory::kFanOuts);
  FanOut* const fan_out = asking->fan_out();
  EXPECT_NE(fan_out, nullptr);
  EXPECT_EQ(asking->fan_out(), fan_out) << "always the same";
}

}  // namespace
}  // namespace weft::transports::testing
