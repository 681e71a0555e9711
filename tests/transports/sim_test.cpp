// The adversary keeps the contract, is the same for the same seed, and catches those who do not keep it.
#include "transports/sim.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <sstream>

#include "tests/transports/support/harness.hpp"

namespace weft::transports::testing {
namespace {

class SimPair {
 public:
  explicit SimPair(const SimOptions& options) : hub_(SimHub::create(options)) {
    for (const int rank : {0, 1}) {
      const auto self = static_cast<std::size_t>(rank);
      transports_[self] = hub_->transport(rank);
      connections_[self] = transports_[self]->connect(rank, 1 - rank, transports_[self]->address(), 1000).value();
      ends[self] = connections_[self]->open_lane(1).value();
    }
  }
  SimHub& hub() { return *hub_; }

 private:
  std::unique_ptr<SimHub> hub_;
  std::array<std::unique_ptr<Transport>, 2> transports_;
  std::array<std::unique_ptr<Connection>, 2> connections_;

 public:
  std::array<std::unique_ptr<Endpoint>, 2> ends;
};

const void* poll_for(Endpoint& end, std::size_t bytes, void* landing, const Signature& expected, int* polls) {
  for (*polls = 1; *polls < 1000; ++*polls) {
    if (const void* found = end.receive(bytes, landing, expected)) return found;
  }
  return nullptr;
}

// What a fixed sequence of calls sees, as text.
std::string history(std::uint64_t seed) {
  SimPair pair({.seed = seed});
  std::ostringstream text;
  std::array<std::byte, 8> data{};
  std::array<std::byte, 8> landing{};
  for (std::uint32_t i = 0; i < 50; ++i) {
    EXPECT_TRUE(pair.ends[0]->send(data.data(), data.size(), signature(i)));
    int polls = 0;
    const void* found = poll_for(*pair.ends[1], data.size(), landing.data(), signature(i), &polls);
    EXPECT_NE(found, nullptr);
    text << polls << (found == landing.data() ? " landing" : " own");
    pair.ends[1]->release();
    int asked = 1;
    while (pair.ends[0]->sends_done() != i + 1 && asked < 1000) ++asked;
    text << ' ' << asked << '\n';
  }
  return text.str();
}

TEST(Sim, equal_seeds_give_equal_histories_and_others_do_not) {
  EXPECT_EQ(history(1), history(1));
  EXPECT_NE(history(1), history(2));
}

TEST(Sim, a_source_overwritten_before_it_is_done_corrupts_the_message) {
  SimPair pair({.seed = 3});
  std::array<std::byte, 8> data{};
  std::array<std::byte, 8> landing{};
  ASSERT_TRUE(pair.ends[0]->send(data.data(), data.size(), signature(1)));
  EXPECT_EQ(pair.ends[0]->sends_done(), 0U);
  data.fill(std::byte{0xff});  // too early
  int polls = 0;
  const void* found = poll_for(*pair.ends[1], data.size(), landing.data(), signature(1), &polls);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(std::memcmp(found, data.data(), data.size()), 0);
  pair.ends[1]->release();
}

TEST(Sim, what_is_lent_is_garbage_after_release) {
  SimPair pair({.seed = 4});
  const auto data = pattern(64, 1);
  std::vector<std::byte> landing(64);
  int garbled = 0;
  for (std::uint32_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(pair.ends[0]->send(data.data(), data.size(), signature(i)));
    int polls = 0;
    const void* found = poll_for(*pair.ends[1], data.size(), landing.data(), signature(i), &polls);
    ASSERT_NE(found, nullptr);
    ASSERT_EQ(std::memcmp(found, data.data(), data.size()), 0);
    pair.ends[1]->release();
    if (found != landing.data()) garbled += std::memcmp(found, data.data(), data.size()) != 0 ? 1 : 0;
  }
  EXPECT_GT(garbled, 10);
  EXPECT_LT(garbled, 40);  // the others are lent from the landing
}

TEST(Sim, a_rank_dies_at_the_chosen_message) {
  SimPair pair({.seed = 5, .max_delay = 0, .dying_rank = 0, .dies_at_message = 3});
  std::array<std::byte, 8> data{};
  std::array<std::byte, 8> landing{};
  std::uint32_t received = 0;
  for (std::uint32_t i = 0; i < 10; ++i) {
    if (pair.ends[0]->send(data.data(), data.size(), signature(i)) &&
        pair.ends[1]->receive(data.size(), landing.data(), signature(i)) != nullptr) {
      pair.ends[1]->release();
      ++received;
    }
  }
  EXPECT_EQ(received, 3U);
  EXPECT_EQ(pair.ends[1]->failure().code(), Code::PeerLost);
  EXPECT_EQ(pair.ends[1]->failure().peer(), 0);
  EXPECT_FALSE(pair.ends[1]->send(data.data(), data.size(), signature(0)));
  EXPECT_EQ(pair.ends[0]->failure().code(), Code::Aborted);
}

TEST(Sim, a_killed_rank_is_lost_to_the_others_and_helpless_itself) {
  SimPair pair({.seed = 6});
  std::array<std::byte, 8> data{};
  pair.hub().kill(1);
  EXPECT_EQ(pair.ends[0]->failure().code(), Code::PeerLost);
  EXPECT_FALSE(pair.ends[1]->send(data.data(), data.size(), signature(0)));
  EXPECT_FALSE(pair.ends[0]->send(data.data(), data.size(), signature(0)));
}

TEST(Sim, there_is_room_for_as_many_messages_as_asked_for) {
  for (const int room : {1, 3}) {
    SimPair pair({.seed = 7, .max_delay = 0, .room = room});
    std::array<std::byte, 8> data{};
    std::array<std::byte, 8> landing{};
    for (int i = 0; i < room; ++i) EXPECT_TRUE(pair.ends[0]->send(data.data(), data.size(), signature(0)));
    EXPECT_FALSE(pair.ends[0]->send(data.data(), data.size(), signature(0)));
    EXPECT_NE(pair.ends[1]->receive(data.size(), landing.data(), signature(0)), nullptr);
    pair.ends[1]->release();
    EXPECT_TRUE(pair.ends[0]->send(data.data(), data.size(), signature(0)));
  }
}

}  // namespace
}  // namespace weft::transports::testing
