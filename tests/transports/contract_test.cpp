// Every transport keeps the contract of transport.hpp: the same facts for each.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "tests/transports/support/harness.hpp"

namespace weft::transports::testing {
namespace {

class Contract : public ::testing::TestWithParam<Kind> {
 protected:
  std::unique_ptr<Ranks> ranks_ = GetParam().make(2);
};
INSTANTIATE_TEST_SUITE_P(Transports, Contract, ::testing::ValuesIn(all_kinds()),
                         [](const auto& kind) { return kind.param.name; });

// Sends when there is room, moving both ends along meanwhile.
bool post(Lane& lane, Endpoint& end, const std::vector<std::byte>& data, const Signature& with) {
  return eventually([&] {
    lane.poll();
    return end.send(data.data(), data.size(), with);
  });
}

// What the next message holds; empty optional if none came. Releases it.
std::optional<std::vector<std::byte>> take(Lane& lane, Endpoint& end, std::size_t bytes, const Signature& expected) {
  std::vector<std::byte> landing(bytes);
  const void* found = nullptr;
  const bool came = eventually([&] {
    lane.poll();
    found = end.receive(bytes, landing.data(), expected);
    return found != nullptr;
  });
  if (!came) return std::nullopt;
  const auto* first = static_cast<const std::byte*>(found);
  std::vector<std::byte> copy(first, first + bytes);
  end.release();
  return copy;
}

TEST_P(Contract, messages_of_every_size_arrive_whole_and_in_order) {
  Lane lane = open_lane(*ranks_, 7);
  const std::size_t most = ranks_->transport(0).max_message();
  std::uint32_t sequence = 0;
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4}, std::size_t{7}, std::size_t{8},
        std::size_t{15}, std::size_t{16}, std::size_t{31}, std::size_t{33}, std::size_t{40}, std::size_t{41},
        std::size_t{1023}, std::size_t{1025}, std::size_t{4096}, std::size_t{65536}, most - 1, most}) {
    for (Endpoint* from : {lane.end0.get(), lane.end1.get()}) {
      Endpoint* to = from == lane.end0.get() ? lane.end1.get() : lane.end0.get();
      const auto data = pattern(bytes, ++sequence);
      ASSERT_TRUE(post(lane, *from, data, signature(sequence)));
      const auto got = take(lane, *to, bytes, signature(sequence));
      ASSERT_TRUE(got.has_value()) << bytes;
      EXPECT_EQ(*got, data) << bytes;
    }
  }
}

TEST_P(Contract, a_sender_without_room_is_refused_and_served_later) {
  Lane lane = open_lane(*ranks_, 7);
  constexpr std::uint32_t kMessages = 200;
  std::vector<std::vector<std::byte>> data;
  for (std::uint32_t i = 0; i < kMessages; ++i) data.push_back(pattern(i % 3 == 0 ? 3000 : 8, i));
  std::uint32_t posted = 0;
  std::uint32_t received = 0;
  std::vector<std::byte> landing(3000);
  const bool all = eventually([&] {
    lane.poll();
    while (posted < kMessages && lane.end0->send(data[posted].data(), data[posted].size(), signature(posted))) ++posted;
    if (const void* found = lane.end1->receive(data[received].size(), landing.data(), signature(received))) {
      EXPECT_EQ(std::memcmp(found, data[received].data(), data[received].size()), 0) << received;
      lane.end1->release();
      ++received;
    }
    return received == kMessages;
  });
  EXPECT_TRUE(all) << posted << " posted, " << received << " received";
}

TEST_P(Contract, sends_done_counts_up_to_what_was_posted) {
  Lane lane = open_lane(*ranks_, 7);
  EXPECT_EQ(lane.end0->sends_done(), 0U);
  const auto large = pattern(ranks_->transport(0).max_message(), 1);
  const auto small = pattern(8, 2);
  ASSERT_TRUE(post(lane, *lane.end0, large, signature(1)));
  const bool at_once = lane.end0->send(small.data(), small.size(), signature(2));  // some have room for one
  EXPECT_LE(lane.end0->sends_done(), at_once ? 2U : 1U);
  EXPECT_EQ(take(lane, *lane.end1, large.size(), signature(1)), large);
  if (!at_once) {
    ASSERT_TRUE(post(lane, *lane.end0, small, signature(2)));
  }
  EXPECT_EQ(take(lane, *lane.end1, small.size(), signature(2)), small);
  EXPECT_TRUE(eventually([&] {
    lane.poll();
    return lane.end0->sends_done() == 2;
  }));
}

TEST_P(Contract, a_message_with_another_length_is_reported_and_not_delivered) {
  Lane lane = open_lane(*ranks_, 7);
  const auto data = pattern(24, 1);
  ASSERT_TRUE(post(lane, *lane.end0, data, signature(1)));
  std::vector<std::byte> landing(32);
  Unexpected what;
  EXPECT_FALSE(lane.end1->unexpected(&what));
  EXPECT_TRUE(eventually([&] {
    lane.poll();
    EXPECT_EQ(lane.end1->receive(32, landing.data(), signature(1)), nullptr);
    return lane.end1->unexpected(&what);
  }));
  EXPECT_EQ(what.bytes, 24U);
  if (GetParam().carries_signature) {
    EXPECT_EQ(what.signature, signature(1));
  }
}

TEST_P(Contract, a_message_with_another_signature_is_reported_and_not_delivered) {
  Lane lane = open_lane(*ranks_, 7);
  const auto data = pattern(24, 1);
  ASSERT_TRUE(post(lane, *lane.end0, data, signature(2)));
  std::vector<std::byte> landing(24);
  Unexpected what;
  EXPECT_TRUE(eventually([&] {
    lane.poll();
    EXPECT_EQ(lane.end1->receive(24, landing.data(), signature(1)), nullptr);
    return lane.end1->unexpected(&what);
  }));
  EXPECT_EQ(what.bytes, 24U);
  if (GetParam().carries_signature) {
    EXPECT_EQ(what.signature, signature(2));
  }
}

TEST_P(Contract, peek_sees_the_front_message_and_leaves_it) {
  Lane lane = open_lane(*ranks_, 7);
  const auto data = pattern(100, 1);
  Unexpected what;
  EXPECT_FALSE(lane.end1->peek(&what));
  ASSERT_TRUE(post(lane, *lane.end0, data, signature(1)));
  EXPECT_TRUE(eventually([&] {
    lane.poll();
    return lane.end1->peek(&what);
  }));
  EXPECT_EQ(what.bytes, 100U);
  if (GetParam().carries_signature) {
    EXPECT_EQ(what.signature, signature(1));
  }
  EXPECT_EQ(take(lane, *lane.end1, 100, signature(1)), data);
  EXPECT_FALSE(lane.end1->peek(&what));
}

TEST_P(Contract, either_side_may_open_and_send_first) {
  for (const int first : {0, 1}) {
    auto early = connect(*ranks_, first, 1 - first);
    auto early_end = early->open_lane(20 + static_cast<std::uint64_t>(first));
    ASSERT_TRUE(early_end.has_value()) << early_end.status().to_string();
    const auto data = pattern(40, 5);
    ASSERT_TRUE((*early_end)->send(data.data(), data.size(), signature(5)));
    auto late = connect(*ranks_, 1 - first, first);
    auto late_end = late->open_lane(20 + static_cast<std::uint64_t>(first));
    ASSERT_TRUE(late_end.has_value()) << late_end.status().to_string();
    std::vector<std::byte> landing(40);
    const void* found = nullptr;
    EXPECT_TRUE(eventually([&] {
      ranks_->transport(0).poll();
      ranks_->transport(1).poll();
      found = (*late_end)->receive(40, landing.data(), signature(5));
      return found != nullptr;
    }));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(std::memcmp(found, data.data(), 40), 0);
    (*late_end)->release();
  }
}

TEST_P(Contract, two_hundred_lanes_keep_their_messages_apart) {
  Lane first = open_lane(*ranks_, 1000);
  std::vector<std::unique_ptr<Endpoint>> ends0;
  std::vector<std::unique_ptr<Endpoint>> ends1;
  for (std::uint64_t i = 0; i < 200; ++i) {
    auto end0 = first.connection0->open_lane(i);
    auto end1 = first.connection1->open_lane(199 - i);
    ASSERT_TRUE(end0.has_value() && end1.has_value()) << end0.status().to_string() << end1.status().to_string();
    ends0.push_back(std::move(end0).value());
    ends1.push_back(std::move(end1).value());
  }
  std::vector<std::vector<std::byte>> data;
  for (std::size_t i = 0; i < 200; ++i) data.push_back(pattern(50, i));
  for (std::size_t i = 0; i < 200; ++i) ASSERT_TRUE(post(first, *ends0[i], data[i], signature(1)));
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(take(first, *ends1[199 - i], 50, signature(1)), data[i]) << "lane " << i;
  }
}

TEST_P(Contract, a_lane_can_be_opened_again_after_both_ends_closed) {
  Lane other = open_lane(*ranks_, 1000);
  for (std::uint32_t round = 0; round < 600; ++round) {  // more often than there are lanes
    auto end0 = other.connection0->open_lane(3);
    auto end1 = other.connection1->open_lane(3);
    ASSERT_TRUE(end0.has_value()) << round << end0.status().to_string();
    ASSERT_TRUE(end1.has_value()) << round << end1.status().to_string();
    Unexpected what;
    EXPECT_FALSE((*end1)->peek(&what)) << round;
    const auto data = pattern(round % 2 == 0 ? 16 : 500, round);
    ASSERT_TRUE(post(other, **end0, data, signature(round)));
    EXPECT_EQ(take(other, **end1, data.size(), signature(round)), data) << round;
    EXPECT_TRUE(eventually([&] {
      other.poll();
      return (*end0)->sends_done() == 1;
    }));
  }
}

TEST_P(Contract, two_connections_work_in_parallel) {
  ranks_ = GetParam().make(3);
  std::vector<std::thread> threads;
  for (const int rank : {0, 1, 2}) {
    threads.emplace_back([&, rank] {
      auto next = connect(*ranks_, rank, (rank + 1) % 3);
      auto previous = connect(*ranks_, rank, (rank + 2) % 3);
      auto to = next->open_lane(5);
      auto from = previous->open_lane(5);
      ASSERT_TRUE(to.has_value() && from.has_value());
      std::vector<std::byte> landing(2000);
      for (std::uint32_t i = 0; i < 500; ++i) {
        const std::size_t bytes = i % 2 == 0 ? 8 : 2000;
        const auto out = pattern(bytes, i * 3 + static_cast<std::uint32_t>(rank));
        const auto in = pattern(bytes, i * 3 + static_cast<std::uint32_t>((rank + 2) % 3));
        bool sent = false;
        const void* found = nullptr;
        const bool done = eventually([&] {
          ranks_->transport(rank).poll();
          if (!sent) sent = (*to)->send(out.data(), out.size(), signature(i));
          if (found == nullptr) {
            found = (*from)->receive(bytes, landing.data(), signature(i));
            if (found != nullptr) {
              EXPECT_EQ(std::memcmp(found, in.data(), bytes), 0);
              (*from)->release();
            }
          }
          return sent && found != nullptr && (*to)->sends_done() == i + 1;
        });
        ASSERT_TRUE(done) << "rank " << rank << ", message " << i;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Contract, the_end_of_a_peer_is_told) {
  Lane lane = open_lane(*ranks_, 7);
  const auto data = pattern(8, 1);
  ASSERT_TRUE(post(lane, *lane.end0, data, signature(1)));
  EXPECT_TRUE(take(lane, *lane.end1, 8, signature(1)).has_value());
  EXPECT_TRUE(lane.end1->failure().ok());
  lane.end0.reset();
  lane.connection0.reset();
  ranks_->end(0);
  std::vector<std::byte> landing(8);
  Status failure;
  EXPECT_TRUE(eventually(
      [&] {
        lane.transport1.poll();
        EXPECT_EQ(lane.end1->receive(8, landing.data(), signature(2)), nullptr);
        failure = lane.end1->failure();
        return !failure.ok();
      },
      GetParam().death_ms));
  EXPECT_EQ(failure.code(), Code::PeerLost) << failure.to_string();
  EXPECT_EQ(failure.peer(), 0);
}

TEST_P(Contract, what_was_received_before_the_peer_ended_stays_received) {
  Lane lane = open_lane(*ranks_, 7);
  const auto data = pattern(64, 1);
  ASSERT_TRUE(post(lane, *lane.end0, data, signature(1)));
  EXPECT_EQ(take(lane, *lane.end1, 64, signature(1)), data);
  lane.end0.reset();
  lane.connection0.reset();
  ranks_->end(0);
}

TEST_P(Contract, after_cancel_no_buffer_is_touched) {
  Lane lane = open_lane(*ranks_, 7);
  const std::size_t bytes = ranks_->transport(0).max_message();
  std::vector<std::byte> landing(bytes);
  EXPECT_EQ(lane.end1->receive(bytes, landing.data(), signature(1)), nullptr);
  lane.end1->cancel(kDeadlineMs);
  const std::vector<std::byte> untouched = landing;
  const auto data = pattern(bytes, 1);
  lane.end0->send(data.data(), bytes, signature(1));
  for (int i = 0; i < 10'000; ++i) lane.poll();
  EXPECT_EQ(landing, untouched);
  EXPECT_EQ(lane.end1->receive(bytes, landing.data(), signature(1)), nullptr);
  EXPECT_FALSE(lane.end1->send(data.data(), 8, signature(1)));
  EXPECT_FALSE(lane.end1->failure().ok());
  lane.end0->cancel(kDeadlineMs);
}

}  // namespace
}  // namespace weft::transports::testing
