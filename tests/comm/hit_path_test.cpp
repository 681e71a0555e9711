// A call that was made before allocates nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

#include "tests/comm/support/thread_ranks.hpp"

namespace {

thread_local int allocations = 0;

void* counted(std::size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

// The whole program's, so that nothing escapes.
void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace weft::comm {
namespace {

TEST(HitPath, a_repeated_call_allocates_nothing) {
  testing::JobOptions job;
  job.options.timeout_ms = 20'000;
  testing::run_job(2, job, [&](CommunicatorState& communicator) {
    std::vector<float> in(1000, 1), out(1000);
    const std::array<std::uint64_t, 2> counts = {3, 400};
    const std::array<std::uint64_t, 2> offsets = {500, 20};
    const auto round = [&] {
      return communicator.run(all_reduce(in.data(), out.data(), 2, DataType::Float32)).ok() &&
             communicator.run(all_reduce(in.data(), out.data(), 1000, DataType::Float32)).ok() &&
             communicator.run(all_reduce(out.data(), out.data(), 2, DataType::Float32)).ok() &&
             communicator.run(quantised(all_reduce(in.data(), out.data(), 1000, DataType::Float32), Quantisation::Int8))
                 .ok() &&
             communicator.run(all_gather_v(in.data(), out.data(), {counts.data()}, DataType::Float32)).ok() &&
             communicator.run(all_gather_v(in.data(), out.data(), {counts.data(), offsets.data()}, DataType::Float32))
                 .ok() &&
             communicator.run(barrier()).ok();
    };
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(round());
    // A round in which the peer was late for some milliseconds asks it why, and that allocates. Hits do not.
    int least = std::numeric_limits<int>::max();
    for (int i = 0; i < 1000; ++i) {
      const int before = allocations;
      ASSERT_TRUE(round());
      least = std::min(least, allocations - before);
    }
    EXPECT_EQ(least, 0);
  });
}

}  // namespace
}  // namespace weft::comm
