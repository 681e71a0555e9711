// UCX between processes: who dies, who leaves early, who is stopped, and what does not fit into a tag.
#include "transports/ucx.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

#include "tests/transports/support/harness.hpp"
#include "tests/transports/support/process.hpp"
#include "transports/ucx_tag.hpp"

namespace weft::transports::testing {
namespace {

// A rank with one lane to one peer.
class Rank {
 public:
  explicit Rank(int rank) : rank_(rank) {
    auto made = make_ucx_transport({.interface = "lo"});
    EXPECT_TRUE(made.has_value()) << made.status().to_string();
    transport = std::move(made).value();
  }
  void join(const std::string& address) {
    auto made = transport->connect(rank_, 1 - rank_, address, kDeadlineMs);
    ASSERT_TRUE(made.has_value()) << made.status().to_string();
    connection = std::move(made).value();
    auto opened = connection->open_lane(1);
    ASSERT_TRUE(opened.has_value()) << opened.status().to_string();
    end = std::move(opened).value();
  }
  // With the rank at the other end of the pipe, which does the same.
  void meet(Pipe& pipe) {
    pipe.write(transport->address());
    join(pipe.read());
  }
  bool send(const std::vector<std::byte>& data, std::uint32_t sequence) {
    return eventually([&] {
      transport->poll();
      return end->send(data.data(), data.size(), signature(sequence));
    });
  }
  bool sends_done(std::uint64_t count) {
    return eventually([&] {
      transport->poll();
      return end->sends_done() >= count;
    });
  }
  bool receive(const std::vector<std::byte>& expected, std::uint32_t sequence) {
    std::vector<std::byte> landing(expected.size());
    const void* found = nullptr;
    const bool came = eventually([&] {
      transport->poll();
      return (found = end->receive(landing.size(), landing.data(), signature(sequence))) != nullptr;
    });
    if (!came) return false;
    const bool equal = std::equal(expected.begin(), expected.end(), static_cast<const std::byte*>(found));
    end->release();
    return equal;
  }

  void leave() {
    end.reset();
    connection.reset();
    transport.reset();
  }

  std::unique_ptr<Transport> transport;
  std::unique_ptr<Connection> connection;
  std::unique_ptr<Endpoint> end;

 private:
  int rank_;
};

TEST(Ucx, two_processes_exchange_messages) {
  Process child([](Pipe& pipe) {
    Rank rank(1);
    rank.meet(pipe);
    for (std::uint32_t i = 0; i < 300; ++i) {
      const auto data = pattern(i % 5 == 0 ? 200'000 : i, i);
      EXPECT_TRUE(rank.send(data, i));
      EXPECT_TRUE(rank.receive(data, i));
      EXPECT_TRUE(rank.sends_done(i + 1));
    }
    return 0;
  });
  Rank rank(0);
  rank.meet(child.pipe());
  for (std::uint32_t i = 0; i < 300; ++i) {
    const auto data = pattern(i % 5 == 0 ? 200'000 : i, i);
    ASSERT_TRUE(rank.send(data, i)) << i;
    ASSERT_TRUE(rank.receive(data, i)) << i;
    ASSERT_TRUE(rank.sends_done(i + 1)) << i;
  }
  rank.leave();  // so that the child can, too
  EXPECT_EQ(child.wait(), 0);
}

TEST(Ucx, a_receive_from_a_killed_process_fails_within_a_second) {
  Process child([](Pipe& pipe) {
    Rank rank(1);
    rank.meet(pipe);
    const auto greeting = pattern(8, 1);
    EXPECT_TRUE(rank.send(greeting, 1));
    EXPECT_TRUE(rank.receive(pattern(8, 2), 2));
    pipe.write("ready");
    eventually([&] {
      rank.transport->poll();
      return false;
    });
    return 0;
  });
  Rank rank(0);
  rank.meet(child.pipe());
  const auto answer = pattern(8, 2);
  ASSERT_TRUE(rank.receive(pattern(8, 1), 1));
  ASSERT_TRUE(rank.send(answer, 2));
  ASSERT_TRUE(rank.sends_done(1));
  child.pipe().read();
  std::vector<std::byte> landing(8);
  EXPECT_EQ(rank.end->receive(8, landing.data(), signature(3)), nullptr);
  EXPECT_TRUE(rank.end->failure().ok());
  child.kill();
  EXPECT_TRUE(eventually(
      [&] {
        rank.transport->poll();
        EXPECT_EQ(rank.end->receive(8, landing.data(), signature(3)), nullptr);
        return !rank.end->failure().ok();
      },
      1'000));
  EXPECT_EQ(rank.end->failure().code(), Code::PeerLost);
  EXPECT_EQ(rank.end->failure().peer(), 1);
  EXPECT_NE(rank.end->failure().message().find("UCX: "), std::string_view::npos) << rank.end->failure().message();
  EXPECT_FALSE(rank.end->send(answer.data(), answer.size(), signature(4)));
  rank.end->cancel(1'000);
}

TEST(Ucx, a_process_killed_before_the_first_message_is_lost_too) {
  Process child([](Pipe& pipe) {
    Rank rank(1);
    rank.meet(pipe);
    pipe.write("ready");
    eventually([&] {
      rank.transport->poll();
      return false;
    });
    return 0;
  });
  Rank rank(0);
  rank.meet(child.pipe());
  child.pipe().read();
  for (int i = 0; i < 1000; ++i) rank.transport->poll();
  std::vector<std::byte> landing(8);
  EXPECT_EQ(rank.end->receive(8, landing.data(), signature(3)), nullptr);
  child.kill();
  EXPECT_TRUE(eventually(
      [&] {
        rank.transport->poll();
        return !rank.end->failure().ok();
      },
      1'000));
  EXPECT_EQ(rank.end->failure().code(), Code::PeerLost);
  rank.end->cancel(1'000);
}

TEST(Ucx, what_a_rank_sent_before_it_left_arrives_though_the_peer_was_busy) {
  Process child([](Pipe& pipe) {
    Rank rank(1);
    rank.meet(pipe);
    const auto large = pattern(300'000, 1);
    for (std::uint32_t i = 0; i < 20; ++i) EXPECT_TRUE(rank.send(large, i));
    EXPECT_TRUE(rank.sends_done(20));
    return 0;  // destroys all of it at once
  });
  Rank rank(0);
  rank.meet(child.pipe());
  const auto large = pattern(300'000, 1);
  for (std::uint32_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(rank.receive(large, i)) << i;
    ::usleep(2'000);  // busy, not waiting: the child's data pile up meanwhile
  }
  EXPECT_EQ(child.wait(), 0);
}

int greet_and_pause(Pipe& pipe) {
  Rank rank(1);
  rank.meet(pipe);
  EXPECT_TRUE(rank.receive(pattern(8, 1), 1));
  pipe.write("ready");
  ::pause();
  return 0;
}

// Stops a child that greets and pauses, and posts it more than sockets hold. How many messages were posted in all.
std::uint64_t send_to_stopped(Rank& rank, Process& child, const std::vector<std::byte>& large) {
  const auto greeting = pattern(8, 1);
  EXPECT_TRUE(rank.send(greeting, 1));
  EXPECT_TRUE(rank.sends_done(1));
  child.pipe().read();
  ::kill(child.pid(), SIGSTOP);
  std::uint64_t posted = 1;
  for (int i = 0; i < 64; ++i) {
    rank.transport->poll();
    if (rank.end->send(large.data(), large.size(), signature(2))) ++posted;
  }
  return posted;
}

TEST(Ucx, cancelling_sends_to_a_stopped_process_is_bounded_and_ends_the_lane) {
  Process child(greet_and_pause);
  Rank rank(0);
  rank.meet(child.pipe());
  const auto large = pattern(rank.transport->max_message(), 1);
  const std::uint64_t posted = send_to_stopped(rank, child, large);
  EXPECT_LT(rank.end->sends_done(), posted);
  std::vector<std::byte> landing(1000);
  EXPECT_EQ(rank.end->receive(1000, landing.data(), signature(3)), nullptr);
  const auto begin = std::chrono::steady_clock::now();
  rank.end->cancel(3'000);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(3'500));
  EXPECT_EQ(rank.end->sends_done(), posted);  // none reads its source any more
  EXPECT_EQ(rank.end->failure().code(), Code::Aborted);
  auto other = rank.connection->open_lane(2);  // the connection was given up
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ((*other)->failure().code(), Code::PeerLost);
}

TEST(Ucx, a_lane_cancelled_in_the_middle_of_a_message_writes_no_more) {
  Process child([](Pipe& pipe) {
    Rank rank(1);
    rank.meet(pipe);
    const auto large = pattern(rank.transport->max_message(), 1);
    EXPECT_TRUE(rank.send(large, 1));
    for (int i = 0; i < 3; ++i) rank.transport->poll();
    pipe.write("ready");
    eventually([&] {
      rank.transport->poll();
      return rank.end->sends_done() == 1 || !rank.end->failure().ok();
    });
    rank.end->cancel(1'000);
    return 0;
  });
  Rank rank(0);
  rank.meet(child.pipe());
  std::vector<std::byte> landing(rank.transport->max_message());
  EXPECT_EQ(rank.end->receive(landing.size(), landing.data(), signature(1)), nullptr);
  child.pipe().read();
  for (int i = 0; i < 20; ++i) rank.transport->poll();  // part of it is here now
  rank.end->cancel(2'000);
  const std::vector<std::byte> then = landing;
  EXPECT_TRUE(eventually([&] {
    rank.transport->poll();
    return ::kill(child.pid(), 0) == 0;
  }));
  for (int i = 0; i < 20'000; ++i) rank.transport->poll();
  EXPECT_EQ(landing, then);
  rank.leave();
  EXPECT_EQ(child.wait(), 0);
}

// Wherever between and within its messages the peer was.
TEST(Ucx, lanes_full_of_messages_of_a_killed_peer_are_cancelled_in_time) {
  constexpr std::uint64_t kLanes = 12;
  constexpr std::size_t kBytes = 60'000;
  const auto open_lanes = [](Rank& rank) {
    std::vector<std::unique_ptr<Endpoint>> ends;
    for (std::uint64_t lane = 0; lane < kLanes; ++lane) ends.push_back(rank.connection->open_lane(10 + lane).value());
    return ends;
  };
  Process child([&](Pipe& pipe) {
    Rank rank(1);
    rank.meet(pipe);
    EXPECT_TRUE(rank.receive(pattern(8, 1), 1));
    const auto ends = open_lanes(rank);
    const auto data = pattern(kBytes, 2);
    for (int i = 0; i < 64; ++i) {  // more than the sockets hold, while the parent does not look
      for (const auto& end : ends) end->send(data.data(), data.size(), signature(2));
      for (int round = 0; round < 10; ++round) rank.transport->poll();
    }
    pipe.write("ready");
    ::pause();
    return 0;
  });
  Rank rank(0);
  rank.meet(child.pipe());
  const auto greeting = pattern(8, 1);
  ASSERT_TRUE(rank.send(greeting, 1));
  ASSERT_TRUE(rank.sends_done(1));
  const auto ends = open_lanes(rank);
  child.pipe().read();
  child.kill();
  std::vector<std::vector<std::byte>> landings(kLanes, std::vector<std::byte>(kBytes));
  const auto take_all = [&] {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      while (ends[lane]->receive(kBytes, landings[lane].data(), signature(2)) != nullptr) ends[lane]->release();
    }
  };
  EXPECT_TRUE(eventually([&] {
    rank.transport->poll();
    take_all();
    return !rank.end->failure().ok();
  }));
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& end : ends) end->cancel(2'000);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(2'500));
  const auto then = landings;
  for (int i = 0; i < 1'000; ++i) rank.transport->poll();
  EXPECT_EQ(landings, then);
}

TEST(Ucx, a_cancel_that_has_no_time_leaves_no_buffer_in_use) {
  Process child(greet_and_pause);
  Rank rank(0);
  rank.meet(child.pipe());
  const auto large = pattern(rank.transport->max_message(), 1);
  const std::uint64_t posted = send_to_stopped(rank, child, large);
  rank.end->cancel(0);
  EXPECT_EQ(rank.end->sends_done(), posted);
  EXPECT_EQ(rank.end->failure().code(), Code::Aborted);
}

// Two ranks of this process with more than one lane.
struct Pair {
  Rank rank{0};
  Rank peer{1};
  Pair() {
    rank.join(peer.transport->address());
    peer.join(rank.transport->address());
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {  // each waits for the other's answer
    std::thread leave([&] { rank.leave(); });
    peer.leave();
    leave.join();
  }
  bool brings(Endpoint& from, Endpoint& to, std::size_t bytes, std::uint32_t sequence) {
    const auto data = pattern(bytes, sequence);
    if (!from.send(data.data(), bytes, signature(sequence))) return false;
    return takes(to, bytes, sequence) && eventually([&] { return poll(), from.sends_done() > 0; });
  }
  bool takes(Endpoint& to, std::size_t bytes, std::uint32_t sequence) {
    std::vector<std::byte> landing(bytes);
    const bool came =
        eventually([&] { return poll(), to.receive(bytes, landing.data(), signature(sequence)) != nullptr; });
    if (came) to.release();
    return came && landing == pattern(bytes, sequence);
  }
  void poll() {
    rank.transport->poll();
    peer.transport->poll();
  }
};

TEST(Ucx, a_lane_that_ends_while_it_waits_leaves_the_other_lanes_alone) {
  Pair pair;
  auto here = pair.rank.connection->open_lane(2).value();
  const auto there = pair.peer.connection->open_lane(2).value();
  ASSERT_TRUE(pair.brings(*there, *here, 8, 1));
  std::vector<std::byte> landing(8);
  EXPECT_EQ(here->receive(8, landing.data(), signature(2)), nullptr);
  EXPECT_EQ(pair.rank.end->receive(8, landing.data(), signature(2)), nullptr);
  here->cancel(1'000);
  EXPECT_EQ(here->failure().code(), Code::Aborted);
  here.reset();
  EXPECT_TRUE(pair.rank.end->failure().ok()) << pair.rank.end->failure().to_string();
  const auto data = pattern(8, 2);
  EXPECT_TRUE(pair.peer.end->send(data.data(), data.size(), signature(2)));
  EXPECT_TRUE(
      eventually([&] { return pair.poll(), pair.rank.end->receive(8, landing.data(), signature(2)) != nullptr; }));
  EXPECT_EQ(landing, data);
  pair.rank.end->release();
  pair.rank.end->receive(8, landing.data(), signature(3));
  pair.rank.end.reset();  // the same without cancel()
  EXPECT_TRUE(pair.rank.connection->open_lane(3).value()->failure().ok());
}

// A long message would wait to be fetched, and its sender give the connection up.
TEST(Ucx, what_comes_for_retired_lanes_is_thrown_away) {
  constexpr std::uint64_t kFirst = std::uint64_t{5} << 8;
  Pair pair;
  const auto large = pattern(1'000'000, 1);
  const auto small = pattern(8, 2);
  const auto before = pair.peer.connection->open_lane(kFirst + 3).value();
  const auto after = pair.peer.connection->open_lane(kFirst + 255).value();
  const auto others = pair.peer.connection->open_lane(kFirst + 256).value();
  for (Endpoint* const end : {before.get(), others.get()}) {
    ASSERT_TRUE(end->send(large.data(), large.size(), signature(1)));
    ASSERT_TRUE(end->send(small.data(), small.size(), signature(2)));
  }
  for (int i = 0; i < 1'000; ++i) pair.poll();  // they are here
  pair.rank.transport->retire(kFirst, 8);
  ASSERT_TRUE(after->send(large.data(), large.size(), signature(1)));
  EXPECT_TRUE(eventually([&] { return pair.poll(), before->sends_done() == 2 && after->sends_done() == 1; }));
  EXPECT_TRUE(after->failure().ok()) << after->failure().to_string();
  const auto kept = pair.rank.connection->open_lane(kFirst + 256).value();
  EXPECT_TRUE(pair.takes(*kept, large.size(), 1));
  EXPECT_TRUE(pair.takes(*kept, small.size(), 2));
  for (const std::uint64_t lane : {kFirst + 3, kFirst + 255}) {
    Unexpected what;
    EXPECT_FALSE(pair.rank.connection->open_lane(lane).value()->peek(&what)) << lane;
  }
}

TEST(Ucx, a_child_forked_while_ucx_is_in_use_is_refused) {
  const auto child_is_refused = [](Pipe& pipe) {
    const auto made = make_ucx_transport({.interface = "lo"});
    EXPECT_EQ(made.status().code(), Code::Unsupported) << made.status().to_string();
    pipe.write(made.status().to_string());
    return 0;
  };
  {
    const Rank rank(0);
    { const Rank other(0); }  // one that ends does not count any more, but the first one does
    Process child(child_is_refused);
    const std::string words = child.pipe().read();
    EXPECT_NE(words.find("was forked from one that was using UCX"), std::string::npos) << words;
    EXPECT_NE(words.find("WEFT_TRANSPORTS=shm"), std::string::npos) << words;
    EXPECT_EQ(child.wait(), 0);
    const Rank goes_on(0);
  }
  Process child([](Pipe& pipe) {  // forked when it is in use no more
    Rank rank(1);
    rank.meet(pipe);
    EXPECT_TRUE(rank.receive(pattern(8, 1), 1));
    return 0;
  });
  Rank rank(0);
  rank.meet(child.pipe());
  const auto data = pattern(8, 1);
  EXPECT_TRUE(rank.send(data, 1));
  EXPECT_TRUE(rank.sends_done(1));
  rank.leave();
  EXPECT_EQ(child.wait(), 0);
}

TEST(Ucx, lanes_and_ranks_that_do_not_fit_into_a_tag_are_refused) {
  Rank rank(0);
  Rank peer(1);
  rank.join(peer.transport->address());
  EXPECT_TRUE(rank.connection->open_lane(kMaxTagLane).has_value());
  const auto lane = rank.connection->open_lane(kMaxTagLane + 1);
  ASSERT_FALSE(lane.has_value());
  EXPECT_EQ(lane.error().code(), Code::InvalidArgument);
  EXPECT_FALSE(rank.transport->connect(0, kMaxTagSender + 1, peer.transport->address(), kDeadlineMs).has_value());
  EXPECT_FALSE(rank.transport->connect(0, 1, "no address of UCX", kDeadlineMs).has_value());
}

TEST(Ucx, tags_tell_senders_lanes_and_signatures_apart) {
  std::set<ucp_tag_t> lanes;
  for (const int sender : {0, 1, 255, kMaxTagSender}) {
    for (const std::uint64_t lane : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{256}, kMaxTagLane}) {
      EXPECT_EQ(lane_tag(sender, lane) & ~kTagMatchMask, 0U);
      EXPECT_TRUE(lanes.insert(lane_tag(sender, lane)).second) << sender << ' ' << lane;
    }
  }
  std::set<ucp_tag_t> digests;
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(signature_digest(signature(i)) & kTagMatchMask, 0U);
    digests.insert(signature_digest(signature(i)));
    digests.insert(signature_digest({.sequence = i, .call = 0, .hash = 0}));
    digests.insert(signature_digest({.sequence = 0, .call = i, .hash = 0}));
    digests.insert(signature_digest({.sequence = 0, .call = 0, .hash = i}));
  }
  EXPECT_EQ(digests.size(), 398U);  // three of the 400 are the same signature
}

TEST(Ucx, no_descriptor_is_left_behind) {
  int before = 0;
  for (int round = 0; round < 10; ++round) {
    if (round == 2) before = open_descriptors();  // UCX opens some of its own once
    auto rank = std::make_unique<Rank>(0);
    auto peer = std::make_unique<Rank>(1);
    rank->join(peer->transport->address());
    peer->join(rank->transport->address());
    const auto data = pattern(8, 1);
    EXPECT_TRUE(rank->send(data, 1));
    std::vector<std::byte> landing(8);
    EXPECT_TRUE(eventually([&] {
      rank->transport->poll();
      peer->transport->poll();
      return peer->end->receive(8, landing.data(), signature(1)) != nullptr;
    }));
    std::thread leave([&] { rank.reset(); });
    peer.reset();
    leave.join();
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace weft::transports::testing
