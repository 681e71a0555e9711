// Groups that only their members call for: who is in them, what agreeing costs, and what happens if they do not agree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/comm/support/thread_ranks.hpp"
#include "transports/local.hpp"
#include "weft/graph.hpp"

namespace weft::comm {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

testing::JobOptions local_job(int timeout_ms = 20'000) {
  testing::JobOptions job;
  job.options.timeout_ms = timeout_ms;
  return job;
}

template <typename Condition>
void wait_until(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
}

std::int32_t sum_over(CommunicatorState& communicator, std::int32_t value) {
  std::int32_t sum = 0;
  const Status status = communicator.run(all_reduce(&value, &sum, 1, DataType::Int32));
  EXPECT_TRUE(status.ok()) << status.to_string();
  return sum;
}

TEST(SplitMembers, ranks_are_numbered_in_the_order_of_the_list) {
  testing::run_job(6, local_job(), [](CommunicatorState& world) {
    const std::vector<int> members = {5, 0, 3};
    const auto at = std::find(members.begin(), members.end(), world.rank());
    if (at == members.end()) return;  // the others do not call it
    auto group = world.split_members(members);
    ASSERT_TRUE(group.has_value()) << group.status().to_string();
    EXPECT_EQ((*group)->size(), 3);
    EXPECT_EQ((*group)->rank(), at - members.begin());
    EXPECT_EQ(sum_over(**group, world.rank()), 8);
  });
}

TEST(SplitMembers, groups_that_share_ranks_and_groups_of_groups_do_not_meet_each_others_messages) {
  testing::run_job(6, local_job(), [](CommunicatorState& world) {
    const std::vector<std::vector<int>> lists = {{0, 1, 2}, {2, 3, 4}, {4, 5}, {5, 0}, {0, 1, 2, 3, 4, 5}, {2, 0, 1}};
    std::vector<std::unique_ptr<CommunicatorState>> groups;
    for (const std::vector<int>& list : lists) {
      if (std::find(list.begin(), list.end(), world.rank()) == list.end()) {
        groups.push_back(nullptr);
        continue;
      }
      auto group = world.split_members(list);
      ASSERT_TRUE(group.has_value()) << group.status().to_string();
      groups.push_back(std::move(*group));
    }
    const std::vector<std::int32_t> sums = {3, 9, 9, 5, 15, 3};
    for (int round = 0; round < 20; ++round) {
      for (std::size_t i = 0; i < groups.size(); ++i)
        if (groups[i] != nullptr) {
          EXPECT_EQ(sum_over(*groups[i], world.rank()), sums[i]);
        }
    }
    if (groups[1] != nullptr && world.rank() != 3) {
      auto inner = groups[1]->split_members(std::vector<int>{2, 0});  // ranks 4 and 2 of the world
      ASSERT_TRUE(inner.has_value()) << inner.status().to_string();
      EXPECT_EQ((*inner)->rank(), world.rank() == 4 ? 0 : 1);
      EXPECT_EQ(sum_over(**inner, world.rank()), 6);
    }
    auto half = world.split(world.rank() % 2, 0);
    ASSERT_TRUE(half.has_value());
    EXPECT_EQ(sum_over(**half, world.rank()), world.rank() % 2 == 0 ? 6 : 9);
  });
}

TEST(SplitMembers, a_rank_alone_asks_nobody) {
  testing::run_job(2, local_job(), [](CommunicatorState& world) {
    auto alone = world.split_members(std::vector<int>{world.rank()});
    ASSERT_TRUE(alone.has_value());
    EXPECT_EQ((*alone)->size(), 1);
    EXPECT_EQ(sum_over(**alone, 7), 7);
  });
}

// Counts what is sent.
class CountingStore final : public transports::Store {
 public:
  CountingStore(std::unique_ptr<Store> store, std::atomic<int>& sent) : store_(std::move(store)), sent_(sent) {}
  int rank() const override { return store_->rank(); }
  int size() const override { return store_->size(); }
  Status set(std::string_view key, std::string_view value) override { return ++sent_, store_->set(key, value); }
  Result<std::string> get(std::string_view key, int timeout_ms) override {
    return ++sent_, store_->get(key, timeout_ms);
  }
  Status remove(std::string_view key) override { return ++sent_, store_->remove(key); }
  Status send(int to, std::string_view message) override { return ++sent_, store_->send(to, message); }
  void listen(Listener listener) override { store_->listen(std::move(listener)); }
  void leave() override { store_->leave(); }

 private:
  std::unique_ptr<Store> store_;
  std::atomic<int>& sent_;
};

TEST(SplitMembers, costs_two_messages_for_each_member_but_one_and_the_others_none) {
  constexpr int kSize = 8;
  constexpr int kGroups = 5;
  const std::vector<int> members = {6, 1, 4, 2};
  const auto graph = topology::model("cpu-2socket");
  const auto stores = transports::LocalStoreHub::create(kSize);
  const auto hub = transports::LocalHub::create();
  std::atomic<int> sent = 0;
  std::atomic<int> done = 0;
  testing::run_ranks(kSize, [&](int rank) {
    RuntimeParts parts;
    parts.options.rank = rank;
    parts.options.size = kSize;
    parts.options.timeout_ms = 20'000;
    parts.store = std::make_unique<CountingStore>(stores->store(rank), sent);
    parts.transports.push_back(hub->transport(rank));
    parts.graph = &*graph;
    auto runtime = Runtime::create(std::move(parts));
    ASSERT_TRUE(runtime.has_value()) << runtime.status().to_string();
    auto world = CommunicatorState::root(std::move(*runtime));
    ASSERT_TRUE(world.has_value()) << world.status().to_string();
    const auto all_have = [&](int steps) {
      ++done;
      wait_until([&] { return done >= steps * kSize; });
    };
    all_have(1);
    const int before = sent;
    all_have(2);
    std::vector<std::unique_ptr<CommunicatorState>> groups;
    if (std::find(members.begin(), members.end(), rank) != members.end()) {
      for (int i = 0; i < kGroups; ++i) {
        auto group = (*world)->split_members(members);
        ASSERT_TRUE(group.has_value()) << group.status().to_string();
        groups.push_back(std::move(*group));
      }
    }
    all_have(3);
    EXPECT_EQ(sent - before, kGroups * 2 * (static_cast<int>(members.size()) - 1));
    EXPECT_EQ((*world)->cost().shared.connections, 0);
    all_have(4);
  });
}

TEST(SplitMembers, lists_that_make_no_sense_are_refused_and_nothing_is_lost) {
  testing::run_job(3, local_job(), [](CommunicatorState& world) {
    const int self = world.rank();
    const int other = (self + 1) % 3;
    for (const auto& [members, words] :
         std::vector<std::pair<std::vector<int>, const char*>>{{{}, "is none of the members"},
                                                               {{other}, "is none of the members"},
                                                               {{self, other, self}, "is there twice"},
                                                               {{self, 3}, "member 3 is not a rank"},
                                                               {{self, -1}, "member -1 is not a rank"}}) {
      const Status refused = world.split_members(members).status();
      EXPECT_EQ(refused.code(), Code::InvalidArgument);
      EXPECT_THAT(std::string(refused.message()), HasSubstr(words));
    }
    EXPECT_EQ(sum_over(world, 1), 3);
  });
}

TEST(SplitMembers, members_with_different_lists_are_told_both) {
  std::atomic<int> told = 0;
  testing::run_job(3, local_job(), [&](CommunicatorState& world) {
    if (world.rank() == 2) {
      wait_until([&] { return told >= 2; });
      return;
    }
    const Status status =
        world.split_members(world.rank() == 0 ? std::vector<int>{0, 1, 2} : std::vector<int>{1, 0}).status();
    EXPECT_EQ(status.code(), Code::Mismatch) << status.to_string();
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("rank 0 splits off ranks 0, 1, 2"), HasSubstr("rank 1 ranks 1, 0")));
    ++told;
  });
}

// Each waits for the next, and none says its list to the one that waits for it.
TEST(SplitMembers, lists_that_differ_in_a_circle_are_told_when_the_deadline_has_passed) {
  testing::run_job(3, local_job(300), [](CommunicatorState& world) {
    const int self = world.rank();
    const Status status = world.split_members(std::vector<int>{self, (self + 1) % 3}).status();
    EXPECT_EQ(status.code(), Code::Mismatch) << status.to_string();
    // Rank 0 waits for rank 1 and rank 1 for rank 2; whoever is first is heard by all.
    EXPECT_THAT(
        std::string(status.message()),
        AnyOf(HasSubstr("rank 0 splits off ranks 0, 1 and waited 0.3 s for rank 1, which splits off ranks 1, 2"),
              HasSubstr("rank 1 splits off ranks 1, 2 and waited 0.3 s for rank 2, which splits off ranks 2, 0")));
    EXPECT_EQ(world.split_members(std::vector<int>{self}).status().code(), Code::Mismatch);
  });
}

TEST(SplitMembers, a_member_that_does_not_come_is_named) {
  std::atomic<bool> told = false;
  testing::run_job(3, local_job(300), [&](CommunicatorState& world) {
    if (world.rank() == 2) {
      wait_until([&] { return told.load(); });
      return;
    }
    const Status status = world.split_members(std::vector<int>{0, 1, 2}).status();
    EXPECT_EQ(status.code(), Code::Timeout) << status.to_string();
    // Rank 1 only knows that rank 0 says nothing; whoever is first is heard by both.
    EXPECT_THAT(std::string(status.message()), HasSubstr("splits off ranks 0, 1, 2, but 1 member did not call it"));
    EXPECT_EQ(world.run(barrier()).code(), Code::Timeout);
    told = true;
  });
}

TEST(SplitMembers, a_member_that_has_destroyed_its_communicator_is_named) {
  testing::run_job(2, local_job(), [](CommunicatorState& world) {
    auto pair = world.split(0, 0);
    ASSERT_TRUE(pair.has_value());
    if (world.rank() == 0) {
      pair->reset();
      EXPECT_TRUE(world.run(barrier()).ok());
      return;
    }
    const Status status = (*pair)->split_members(std::vector<int>{0, 1}).status();
    EXPECT_EQ(status.code(), Code::PeerLost) << status.to_string();
    EXPECT_EQ(status.peer(), 0);
    EXPECT_TRUE(world.run(barrier()).ok());
  });
}

TEST(SplitMembers, an_abort_ends_the_waiting) {
  testing::run_job(3, local_job(), [](CommunicatorState& world) {
    if (world.rank() == 2) {
      world.abort("enough");
    } else {
      const Status status = world.split_members(std::vector<int>{0, 1, 2}).status();
      EXPECT_EQ(status.code(), Code::Aborted) << status.to_string();
    }
  });
}

TEST(SplitMembers, what_is_in_flight_moves_on_meanwhile) {
  testing::run_job(2, local_job(), [](CommunicatorState& world) {
    std::vector<float> in(300'000, 1), out(300'000);
    const Operation sum = all_reduce(in.data(), out.data(), in.size(), DataType::Float32);
    std::uint32_t ticket = 0;
    if (world.rank() == 0) {
      ASSERT_TRUE(world.start(sum, &ticket).ok());
    } else {
      ASSERT_TRUE(world.run(sum).ok());
    }
    auto group = world.split_members(std::vector<int>{0, 1});
    ASSERT_TRUE(group.has_value()) << group.status().to_string();
    if (world.rank() == 0) {
      ASSERT_TRUE(world.wait(ticket).ok());
    }
    EXPECT_EQ(out.back(), 2);
  });
}

}  // namespace
}  // namespace weft::comm
