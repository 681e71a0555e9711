// What a program that polls is told of operations: also of those that end as soon as they are started, and of those
// that nothing ever matches.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <thread>

#include "base/deadline.hpp"
#include "tests/comm/support/thread_ranks.hpp"

namespace weft::comm {
namespace {

// Waits until the descriptor is readable, and reads it.
bool told(int descriptor) {
  pollfd polled{descriptor, POLLIN, 0};
  std::uint64_t ended = 0;
  return ::poll(&polled, 1, 10'000) == 1 && ::read(descriptor, &ended, sizeof ended) == sizeof ended;
}

testing::JobOptions job_with_helper() {
  testing::JobOptions job;
  job.options.timeout_ms = 20'000;
  job.options.progress_thread = true;
  return job;
}

TEST(Events, tell_of_a_message_that_ends_as_soon_as_it_is_started) {
  testing::run_job(1, job_with_helper(), [](CommunicatorState& communicator) {
    const auto descriptor = communicator.event_descriptor();
    ASSERT_TRUE(descriptor.has_value()) << descriptor.status().to_string();
    const std::int32_t sent = 7;
    std::int32_t got = 0;
    std::array<std::uint32_t, 2> tickets{};
    ASSERT_TRUE(communicator.start(receive(&got, 1, DataType::Int32, 0, 1), &tickets[0]).ok());
    ASSERT_TRUE(communicator.start(send(&sent, 1, DataType::Int32, 0, 1), &tickets[1]).ok());
    EXPECT_TRUE(told(*descriptor));
    for (const std::uint32_t ticket : tickets) {
      EXPECT_TRUE(communicator.test(ticket));
      EXPECT_TRUE(communicator.wait(ticket).ok());
    }
    EXPECT_EQ(got, sent);
    EXPECT_TRUE(communicator.close().ok());
  });
}

Communicator alone() {
  Options options;
  options.rank = 0;
  options.size = 1;
  options.progress_thread = true;
  Result<Communicator> made = Communicator::create(options);
  EXPECT_TRUE(made.has_value()) << made.status().to_string();
  return std::move(*made);
}

// A loop that tests the Work only once the descriptor is readable would wait for ever.
TEST(Events, tell_of_what_ends_as_soon_as_it_is_started_also_because_it_is_refused) {
  Communicator communicator = alone();
  const auto descriptor = communicator.event_descriptor();
  ASSERT_TRUE(descriptor.has_value()) << descriptor.status().to_string();
  std::int32_t value = 1;
  auto plan = communicator.prepare(all_reduce(&value, &value, 1, DataType::Int32));
  ASSERT_TRUE(plan.has_value()) << plan.status().to_string();
  const auto told_of = [&](Work work, Code code) {
    EXPECT_TRUE(told(*descriptor));
    EXPECT_TRUE(work.test());
    const Status status = work.wait();
    EXPECT_EQ(status.code(), code) << status.to_string();
  };
  told_of(communicator.start(all_reduce(&value, &value, 1, DataType::Int32)), Code::Ok);
  told_of(communicator.start(all_reduce(&value, &value, 0, DataType::Int32)), Code::Ok);
  told_of(communicator.start(all_reduce(nullptr, &value, 1, DataType::Int32)), Code::InvalidArgument);
  told_of(communicator.start(send(&value, 1, DataType::Int32, 7)), Code::InvalidArgument);
  told_of(plan->start(nullptr, &value), Code::InvalidArgument);
  communicator.abort("the loop goes on");
  told_of(communicator.start(barrier()), Code::Aborted);
  told_of(plan->start(&value, &value), Code::Aborted);
}

// What the helper knows of the time before is not held against it.
TEST(Events, a_call_that_begins_after_a_pause_has_not_waited_during_the_pause) {
  testing::JobOptions job = job_with_helper();
  job.options.timeout_ms = 400;
  testing::run_job(2, job, [](CommunicatorState& communicator) {
    ASSERT_TRUE(communicator.event_descriptor().has_value());
    ASSERT_TRUE(communicator.run(barrier()).ok());
    const auto pause = base::Deadline::after_ms(600);
    while (!pause.passed()) std::this_thread::yield();
    const std::int32_t sent = 5;
    std::int32_t got = 0;
    std::uint32_t ticket = 0;
    const Message message =
        communicator.rank() == 0 ? receive(&got, 1, DataType::Int32, 1, 1) : send(&sent, 1, DataType::Int32, 0, 1);
    const auto lead = base::Deadline::after_ms(communicator.rank() == 0 ? 0 : 100);
    while (!lead.passed()) std::this_thread::yield();
    ASSERT_TRUE(communicator.start(message, &ticket).ok());
    const Status outcome = communicator.wait(ticket);
    EXPECT_TRUE(outcome.ok()) << outcome.to_string();
    const Status closed = communicator.close();
    EXPECT_TRUE(closed.ok()) << closed.to_string();
  });
}

TEST(Events, tell_of_a_message_whose_time_is_over_though_nobody_waits_for_it) {
  testing::run_job(2, job_with_helper(), [](CommunicatorState& communicator) {
    const auto descriptor = communicator.event_descriptor();
    ASSERT_TRUE(descriptor.has_value()) << descriptor.status().to_string();
    std::int32_t got = 0;
    Message late = receive(&got, 1, DataType::Int32, 1 - communicator.rank(), 1);
    late.timeout_ms = 20;
    std::uint32_t ticket = 0;
    ASSERT_TRUE(communicator.start(late, &ticket).ok());
    EXPECT_TRUE(told(*descriptor));
    EXPECT_TRUE(communicator.test(ticket));
    EXPECT_EQ(communicator.wait(ticket).code(), Code::Timeout);
    const Status closed = communicator.close();
    EXPECT_TRUE(closed.ok()) << closed.to_string();
  });
}

TEST(Events, tell_of_a_message_that_never_comes_and_ends_its_communicator) {
  testing::JobOptions job = job_with_helper();
  job.options.timeout_ms = 200;
  testing::run_job(2, job, [](CommunicatorState& communicator) {
    const auto descriptor = communicator.event_descriptor();
    ASSERT_TRUE(descriptor.has_value()) << descriptor.status().to_string();
    if (communicator.rank() == 1) {
      // Answers, but does not send.
      const auto deadline = base::Deadline::after_ms(10'000);
      while (communicator.health().ok() && !deadline.passed()) std::this_thread::yield();
      EXPECT_EQ(communicator.health().code(), Code::Timeout);
      return;
    }
    std::int32_t got = 0;
    std::uint32_t ticket = 0;
    ASSERT_TRUE(communicator.start(receive(&got, 1, DataType::Int32, 1, 1), &ticket).ok());
    EXPECT_TRUE(told(*descriptor));
    EXPECT_TRUE(communicator.test(ticket));
    const Status outcome = communicator.wait(ticket);
    EXPECT_EQ(outcome.code(), Code::Timeout) << outcome.to_string();
    EXPECT_NE(outcome.message().find("rank 0 waited"), std::string_view::npos) << outcome.message();
  });
}

}  // namespace
}  // namespace weft::comm
