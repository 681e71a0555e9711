// The helper thread: what is said where the system gives none, and that it tells of what is wrong without the guard.
#include "comm/progress.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "base/deadline.hpp"
#include "tests/support/no_threads.hpp"

namespace weft::comm {
namespace {

// False: not by the deadline.
bool becomes_true(const std::atomic<bool>& condition) {
  const auto deadline = base::Deadline::after_ms(10'000);
  while (!condition && !deadline.passed()) std::this_thread::yield();
  return condition;
}

// In flight, and wrong, until it has told so.
class Complaining final : public Progress::Driven {
 public:
  explicit Complaining(std::function<void()> tell) : tell_(std::move(tell)) {}
  bool drive() override { return false; }
  bool in_flight() const override { return !told; }
  bool tend() override { return true; }
  void tell() override {
    telling = true;
    tell_();
    told = true;
  }

  std::atomic<bool> telling = false;
  std::atomic<bool> told = false;

 private:
  std::function<void()> tell_;
};

void begin(Progress& progress, Complaining& driven) {
  {
    const auto guard = progress.guard();
    progress.add(driven);
  }
  progress.wake();
}

TEST(Progress, without_a_thread_there_is_a_reason) {
  const test::NoMoreThreads no_more_threads;
  const auto progress = Progress::start(true);
  ASSERT_FALSE(progress.has_value());
  EXPECT_EQ(progress.error().code(), Code::ResourceExhausted) << progress.error().to_string();
}

TEST(Progress, that_is_switched_off_needs_no_thread) {
  const test::NoMoreThreads no_more_threads;
  const auto progress = Progress::start(false);
  ASSERT_TRUE(progress.has_value()) << progress.error().to_string();
  EXPECT_FALSE((*progress)->guard().owns_lock());
}

TEST(Progress, others_may_have_the_guard_while_what_is_wrong_is_told) {
  const auto progress = Progress::start(true);
  ASSERT_TRUE(progress.has_value()) << progress.status().to_string();
  std::atomic<bool> had_guard = false;
  bool in_time = false;
  Complaining driven([&] { in_time = becomes_true(had_guard); });
  begin(**progress, driven);
  ASSERT_TRUE(becomes_true(driven.telling));
  auto guard = (*progress)->guard();
  had_guard = true;
  (*progress)->remove(driven, guard);
  EXPECT_TRUE(in_time);
}

TEST(Progress, what_is_removed_has_told_what_is_wrong_with_it) {
  const auto progress = Progress::start(true);
  ASSERT_TRUE(progress.has_value()) << progress.status().to_string();
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> removing = false;
    Complaining driven([&] {
      if (!becomes_true(removing)) return;
      for (int turn = 0; turn < 100; ++turn) std::this_thread::yield();
    });
    begin(**progress, driven);
    ASSERT_TRUE(becomes_true(driven.telling));
    auto guard = (*progress)->guard();
    removing = true;
    (*progress)->remove(driven, guard);
    ASSERT_TRUE(driven.told);
  }
}

}  // namespace
}  // namespace weft::comm
