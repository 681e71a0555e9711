// The table of known calls grows with them, and loses none that runs.
#include "comm/plan_cache.hpp"

#include <gtest/gtest.h>

namespace weft::comm {
namespace {

PlanKey key_of(std::uint64_t count, ReduceOp op = ReduceOp::Sum) {
  return PlanKey(all_reduce(count, DataType::Float32, op));
}

Footprint footprint_of(std::uint64_t count) { return footprint(all_reduce(count, DataType::Float32), 0, 2); }

TEST(PlanCache, takes_no_memory_before_the_first_call_and_little_for_a_few) {
  PlanCache cache;
  EXPECT_EQ(cache.memory_bytes(), 0U);
  EXPECT_EQ(cache.find(key_of(1)), nullptr);
  for (std::uint64_t count = 1; count <= 4; ++count)
    ASSERT_NE(cache.insert(key_of(count), footprint_of(count)), nullptr);
  EXPECT_LE(cache.memory_bytes(), 4096U);
}

TEST(PlanCache, finds_all_of_a_hundred_calls) {
  PlanCache cache;
  for (std::uint64_t count = 1; count <= 100; ++count) {
    ASSERT_NE(cache.insert(key_of(count), footprint_of(count)), nullptr);
    for (std::uint64_t known = 1; known <= count; ++known) {
      const KnownCall* const call = cache.find(key_of(known));
      ASSERT_NE(call, nullptr) << known << " of " << count;
      EXPECT_EQ(call->footprint.in_bytes, known * 4);
    }
  }
  EXPECT_EQ(cache.find(key_of(101)), nullptr);
}

TEST(PlanCache, calls_that_run_are_kept_whatever_comes_after_them) {
  PlanCache cache;
  for (std::uint64_t count = 1; count <= 3; ++count) {
    KnownCall* const call = cache.insert(key_of(count), footprint_of(count));
    ASSERT_NE(call, nullptr);
    call->plans[0] = std::make_unique<BoundPlan>();
    call->plans[0]->in_flight = 1;
  }
  const BoundPlan* const plan = cache.find(key_of(2))->plans[0].get();
  for (std::uint64_t count = 1000; count < 5000; ++count)
    ASSERT_NE(cache.insert(key_of(count), footprint_of(count)), nullptr);
  for (std::uint64_t count = 1; count <= 3; ++count) ASSERT_NE(cache.find(key_of(count)), nullptr);
  EXPECT_EQ(cache.find(key_of(2))->plans[0].get(), plan);
}

TEST(PlanCache, forgets_the_calls_of_an_operator_unless_they_run) {
  constexpr auto kOwn = static_cast<ReduceOp>(kFirstUserOp);
  PlanCache cache;
  ASSERT_NE(cache.insert(key_of(1), footprint_of(1)), nullptr);
  KnownCall* const call = cache.insert(key_of(1, kOwn), footprint_of(1));
  ASSERT_NE(call, nullptr);
  call->plans[0] = std::make_unique<BoundPlan>();
  call->plans[0]->in_flight = 1;
  EXPECT_FALSE(cache.forget(kOwn));
  ASSERT_NE(cache.find(key_of(1, kOwn)), nullptr);
  cache.find(key_of(1, kOwn))->plans[0]->in_flight = 0;
  EXPECT_TRUE(cache.forget(kOwn));
  EXPECT_EQ(cache.find(key_of(1, kOwn)), nullptr);
  EXPECT_NE(cache.find(key_of(1)), nullptr);
}

}  // namespace
}  // namespace weft::comm
