// A call that was made before allocates nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/comm/support/thread_ranks.hpp"

namespace {

std::atomic<bool> counting{false};
std::atomic<int> allocations{0};

void* counted(std::size_t bytes) {
  if (counting.load(std::memory_order_relaxed)) ++allocations;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

// The whole program's, so that nothing escapes.
void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace weft::comm {
namespace {

TEST(HitPath, a_repeated_call_allocates_nothing) {
  testing::JobOptions job;
  job.options.timeout_ms = 20'000;
  std::atomic<int> ready{0};
  std::atomic<int> done{0};
  testing::run_job(2, job, [&](CommunicatorState& communicator) {
    std::vector<float> in(1000, 1), out(1000);
    const auto round = [&] {
      return communicator.run(all_reduce(in.data(), out.data(), 2, DataType::Float32)).ok() &&
             communicator.run(all_reduce(in.data(), out.data(), 1000, DataType::Float32)).ok() &&
             communicator.run(all_reduce(out.data(), out.data(), 2, DataType::Float32)).ok() &&
             communicator.run(barrier()).ok();
    };
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(round());
    ++ready;
    while (ready < 2) std::this_thread::yield();
    counting = true;
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(round());
    ++done;
    while (done < 2) std::this_thread::yield();
    counting = false;
  });
  EXPECT_EQ(allocations, 0);
}

}  // namespace
}  // namespace weft::comm
