// Who is missing: a call that waits too long names the ranks that have not made it, not a neighbour that waits, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/comm/support/thread_ranks.hpp"

namespace weft::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Runs on all ranks but `absent`, which make no call before the others were told.
template <typename Body>
void without(const std::vector<int>& absent, int timeout_ms, const Body& body) {
  constexpr int kSize = 6;
  testing::JobOptions job;
  job.options.timeout_ms = timeout_ms;
  std::atomic<int> told = 0;
  testing::run_job(kSize, job, [&](CommunicatorState& communicator) {
    if (std::find(absent.begin(), absent.end(), communicator.rank()) == absent.end()) {
      body(communicator);
      ++told;
      return;
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const int others = kSize - static_cast<int>(absent.size());
    while (told < others && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  });
}

TEST(Missing, a_barrier_names_all_ranks_that_have_not_come) {
  without({2, 5}, 300, [](CommunicatorState& communicator) {
    const Status status = communicator.run(barrier());
    EXPECT_EQ(status.code(), Code::Timeout) << status.to_string();
    EXPECT_TRUE(status.peer() == 2 || status.peer() == 5) << status.to_string();
    EXPECT_THAT(std::string(status.message()), HasSubstr("Missing of 6 ranks: 2 (no call yet), 5 (no call yet)"));
  });
}

TEST(Missing, a_rank_that_is_a_call_behind_is_named_with_its_last_one) {
  constexpr int kSize = 3;
  testing::JobOptions job;
  job.options.timeout_ms = 300;
  std::atomic<int> told = 0;
  testing::run_job(kSize, job, [&](CommunicatorState& communicator) {
    float value = 1;
    ASSERT_TRUE(communicator.run(all_reduce(&value, &value, 1, DataType::Float32)).ok());
    if (communicator.rank() == 1) {
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (told < kSize - 1 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
      return;
    }
    const Status status = communicator.run(barrier());
    EXPECT_EQ(status.code(), Code::Timeout) << status.to_string();
    EXPECT_EQ(status.peer(), 1);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("Missing of 3 ranks: 1 (last all_reduce #1 of 1 float32, sum)"),
                      Not(HasSubstr("ranks: 1 (last all_reduce #1 of 1 float32, sum),"))));
    ++told;
  });
}

TEST(Missing, a_call_may_have_a_deadline_of_its_own) {
  without({3}, 20'000, [](CommunicatorState& communicator) {
    const auto started = std::chrono::steady_clock::now();
    const Status status = communicator.run(barrier(), 200);
    EXPECT_EQ(status.code(), Code::Timeout) << status.to_string();
    EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(10));
    EXPECT_THAT(std::string(status.message()), HasSubstr("Missing of 6 ranks: 3"));
  });
}

}  // namespace
}  // namespace weft::comm
