// ctest: ucx
// Groups over UCX share their parent's connections: one that ends, in whatever way, leaves the parent alone.
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "tests/comm/support/thread_ranks.hpp"

namespace weft::comm {
namespace {

testing::JobOptions over_ucx() {
  testing::JobOptions job;
  job.transport = "ucx";
  job.options.timeout_ms = 20'000;
  return job;
}

// Both ways with the other one of two ranks.
void exchange(CommunicatorState& communicator) {
  const int other = 1 - communicator.rank();
  const int mine = communicator.rank();
  int theirs = -1;
  const Message messages[] = {send(&mine, 1, DataType::Int32, other, 0),
                              receive(&theirs, 1, DataType::Int32, other, 0)};
  const Status status = communicator.run(messages, {});
  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(theirs, other);
}

void expect_works(CommunicatorState& communicator) {
  const int one = 1;
  int sum = 0;
  const Status status = communicator.run(all_reduce(&one, &sum, 1, DataType::Int32));
  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(sum, communicator.size());
}

TEST(GroupsUcx, one_that_exchanged_messages_ends_alone) {
  testing::run_job(2, over_ucx(), [](CommunicatorState& world) {
    expect_works(world);
    for (int round = 0; round < 3; ++round) {
      auto group = world.split(0, 0);
      ASSERT_TRUE(group.has_value()) << group.status().to_string();
      exchange(**group);  // which leaves a receive posted for the next message
      group->reset();
      expect_works(world);
    }
    exchange(world);
    EXPECT_TRUE(world.close().ok());
  });
}

TEST(GroupsUcx, others_of_the_same_ranks_go_on) {
  testing::run_job(2, over_ucx(), [](CommunicatorState& world) {
    auto first = world.split(0, 0);
    auto second = world.split(0, 0);
    ASSERT_TRUE(first.has_value() && second.has_value());
    exchange(**first);
    exchange(**second);
    EXPECT_TRUE((*second)->close().ok());
    second->reset();
    exchange(**first);
    const Status closed = (*first)->close();
    EXPECT_TRUE(closed.ok()) << closed.to_string();
  });
}

// Ranks 0 and 2 make no call on it, which rank 1 sends to.
TEST(GroupsUcx, one_that_is_aborted_in_long_sends_ends_alone) {
  std::promise<void> sending;
  testing::run_job(3, over_ucx(), [&](CommunicatorState& world) {
    auto group = world.split(0, 0);
    ASSERT_TRUE(group.has_value()) << group.status().to_string();
    if (world.rank() == 0) {
      ASSERT_EQ(sending.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
      (*group)->abort("enough");
    } else if (world.rank() == 1) {
      std::vector<float> data(2'000'000, 1);
      std::uint32_t ticket = 0;
      const Status started =
          (*group)->start(all_reduce(data.data(), data.data(), data.size(), DataType::Float32), &ticket);
      sending.set_value();
      ASSERT_TRUE(started.ok()) << started.to_string();
      EXPECT_EQ((*group)->wait(ticket).code(), Code::Aborted);
    }
    expect_works(world);
  });
}

// Rank 0 has never opened the lane, on which long messages wait to be fetched.
TEST(GroupsUcx, what_is_sent_to_one_that_was_destroyed_is_thrown_away) {
  testing::run_job(2, over_ucx(), [](CommunicatorState& world) {
    auto group = world.split(0, 0);
    ASSERT_TRUE(group.has_value()) << group.status().to_string();
    const std::vector<std::byte> data(60'000);
    if (world.rank() == 0) {
      group->reset();
    } else {
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      Status status;
      while (status.ok() && std::chrono::steady_clock::now() < deadline)
        status = (*group)->run(send(data.data(), data.size(), DataType::UInt8, 0, 0)).status();
      EXPECT_EQ(status.code(), Code::PeerLost) << status.to_string();
      EXPECT_NE(status.message().find("has destroyed its communicator"), std::string_view::npos) << status.to_string();
      group->reset();
    }
    expect_works(world);
    auto next = world.split(0, 0);
    ASSERT_TRUE(next.has_value()) << next.status().to_string();
    exchange(**next);
    EXPECT_TRUE((*next)->close().ok());
  });
}

}  // namespace
}  // namespace weft::comm
