// A lane over two rails: which parts a message has, and what is told where the two sides expect different ones.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/transports/support/harness.hpp"
#include "transports/ucx.hpp"
#include "transports/ucx_address.hpp"
#include "transports/ucx_striped_endpoint.hpp"

namespace weft::transports::testing {
namespace {

constexpr std::size_t kLong = UcxStripedEndpoint::kLongBytes;

// Both ends of a lane in this process, each over the interfaces that it was told.
class Pair {
 public:
  Pair(const std::string& interfaces0, const std::string& interfaces1) {
    const std::string interfaces[] = {interfaces0, interfaces1};
    for (int rank = 0; rank < 2; ++rank) {
      auto made = make_ucx_transport({.interface = interfaces[rank]});
      EXPECT_TRUE(made.has_value()) << made.status().to_string();
      transports_.push_back(std::move(made).value());
    }
    for (int rank = 0; rank < 2; ++rank) {
      auto made = transports_[rank]->connect(rank, 1 - rank, transports_[1 - rank]->address(), kDeadlineMs);
      EXPECT_TRUE(made.has_value()) << made.status().to_string();
      connections_.push_back(std::move(made).value());
      ends_.push_back(connections_.back()->open_lane(1).value());
    }
  }

  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  // Both at once: what one sent leaves only while the other is there to take it.
  ~Pair() {
    ends_.clear();
    connections_.clear();
    std::thread other([&] { transports_[1].reset(); });
    transports_[0].reset();
    other.join();
  }

  void poll() {
    for (const auto& transport : transports_) transport->poll();
  }
  bool send(const std::vector<std::byte>& data, std::uint32_t sequence) {
    return eventually([&] {
      poll();
      return ends_[0]->send(data.data(), data.size(), signature(sequence));
    });
  }
  // What the next message holds; nothing if none came.
  std::vector<std::byte> take(std::size_t bytes, std::uint32_t sequence) {
    std::vector<std::byte> landing(bytes);
    const bool came = eventually([&] {
      poll();
      return ends_[1]->receive(bytes, landing.data(), signature(sequence)) != nullptr;
    });
    if (!came) return {};
    ends_[1]->release();
    return landing;
  }
  // What a receiver that expects so many bytes is told of a message of `sent` bytes.
  Unexpected refusal(std::size_t sent, std::size_t expected) {
    const auto data = pattern(sent, 1);
    EXPECT_TRUE(send(data, 1));
    std::vector<std::byte> landing(expected);
    Unexpected what;
    EXPECT_TRUE(eventually([&] {
      poll();
      EXPECT_EQ(ends_[1]->receive(expected, landing.data(), signature(1)), nullptr);
      return ends_[1]->unexpected(&what);
    }));
    return what;
  }
  Endpoint& sender() { return *ends_[0]; }

 private:
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Endpoint>> ends_;
};

TEST(UcxRails, parts_cover_a_message_and_the_first_is_never_short) {
  for (const std::size_t rails : {2, 3, 4}) {
    for (const std::size_t bytes : {kLong, kLong + 1, 2 * kLong - 1, 2 * kLong, 3 * kLong + 7, std::size_t{1} << 20}) {
      EXPECT_EQ(UcxStripedEndpoint::begin_of_part(bytes, 0, rails), 0U);
      EXPECT_GE(UcxStripedEndpoint::begin_of_part(bytes, 1, rails), kLong);
      EXPECT_EQ(UcxStripedEndpoint::begin_of_part(bytes, rails, rails), bytes);
      for (std::size_t rail = 0; rail < rails; ++rail) {
        EXPECT_LE(UcxStripedEndpoint::begin_of_part(bytes, rail, rails),
                  UcxStripedEndpoint::begin_of_part(bytes, rail + 1, rails));
      }
    }
  }
  EXPECT_EQ(UcxStripedEndpoint::begin_of_part(1 << 20, 1, 2), std::size_t{1} << 19);
}

TEST(UcxRails, short_and_long_messages_arrive_in_the_order_in_which_they_were_sent) {
  Pair pair("lo,lo", "lo,lo");
  const std::size_t sizes[] = {8, kLong, 0, 2 * kLong + 3, kLong - 1, 5 * kLong, 1};
  std::vector<std::vector<std::byte>> data;
  for (std::uint32_t i = 0; i < 40; ++i) data.push_back(pattern(sizes[i % std::size(sizes)], i));
  for (std::uint32_t i = 0; i < 40; ++i) ASSERT_TRUE(pair.send(data[i], i));
  for (std::uint32_t i = 0; i < 40; ++i) EXPECT_EQ(pair.take(data[i].size(), i), data[i]) << i;
  EXPECT_TRUE(eventually([&] {
    pair.poll();
    return pair.sender().sends_done() == 40;
  }));
}

TEST(UcxRails, more_messages_than_may_be_in_flight_are_all_sent) {
  Pair pair("lo,lo", "lo,lo");
  const auto data = pattern(2 * kLong, 1);
  std::uint32_t posted = 0;
  for (std::uint32_t taken = 0; taken < 200; ++taken) {
    while (posted < 200 && pair.sender().send(data.data(), data.size(), signature(posted))) ++posted;
    ASSERT_EQ(pair.take(data.size(), taken), data) << taken;
  }
}

TEST(UcxRails, a_side_with_fewer_rails_decides_how_many_are_used) {
  for (const auto& [left, right] :
       {std::pair("lo,lo", "lo"), std::pair("lo", "lo,lo"), std::pair("lo,lo", "lo,lo,lo")}) {
    Pair pair(left, right);
    const auto data = pattern(4 * kLong + 5, 1);
    ASSERT_TRUE(pair.send(data, 1));
    EXPECT_EQ(pair.take(data.size(), 1), data) << left << " and " << right;
  }
}

TEST(UcxRails, a_message_of_another_length_is_reported_with_the_length_of_all_its_parts) {
  const std::size_t sizes[] = {8, kLong - 1, kLong, kLong + 1, 2 * kLong, 3 * kLong, 3 * kLong + 1};
  for (const std::size_t sent : sizes) {
    for (const std::size_t expected : sizes) {
      if (sent == expected) continue;
      const Unexpected what = Pair("lo,lo", "lo,lo").refusal(sent, expected);
      EXPECT_EQ(what.bytes, sent) << "for " << expected;
      EXPECT_EQ(what.signature, signature(1)) << sent << " for " << expected;
    }
  }
}

TEST(UcxRails, addresses_are_read_back_and_anything_else_is_none) {
  const std::vector<std::string> rails = {std::string("a\nb\0c", 5), "d"};
  const std::string text = write_ucx_address(rails);
  const auto found = read_ucx_address(text);
  EXPECT_EQ(std::vector<std::string>(found.begin(), found.end()), rails);
  for (const char* bad : {"", "weft-ucx 2 1", "weft-ucx 1\nx", "weft-ucx 2 \nx", "weft-ucx 2 2\nx", "weft-ucx 2 1\nxy",
                          "weft-ucx 2 1,1\nx", "weft-ucx 2 0,1\nx", "weft-ucx 2 -1\nx"}) {
    EXPECT_TRUE(read_ucx_address(bad).empty()) << bad;
  }
}

}  // namespace
}  // namespace weft::transports::testing
