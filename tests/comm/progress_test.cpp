// The helper thread: what is said where the system gives none.
#include "comm/progress.hpp"

#include <gtest/gtest.h>

#include "tests/support/no_threads.hpp"

namespace weft::comm {
namespace {

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

}  // namespace
}  // namespace weft::comm
