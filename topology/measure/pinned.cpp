// Pinned threads and their memory.
#include "topology/measure/pinned.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <latch>
#include <system_error>
#include <thread>

namespace weft::topology {
namespace {

constexpr std::size_t kMaxCpus = 8192;

bool pin_to(int cpu) {
  const auto release = [](cpu_set_t* set) { CPU_FREE(set); };
  const std::unique_ptr<cpu_set_t, decltype(release)> set(CPU_ALLOC(kMaxCpus));
  const std::size_t bytes = CPU_ALLOC_SIZE(kMaxCpus);
  if (set == nullptr || cpu < 0 || static_cast<std::size_t>(cpu) >= kMaxCpus) return false;
  CPU_ZERO_S(bytes, set.get());
  CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set.get());
  return ::sched_setaffinity(0, bytes, set.get()) == 0;
}

}  // namespace

bool run_pinned(const std::vector<int>& cpus, const std::function<void(std::size_t)>& body) {
  std::atomic<bool> all_pinned{true};
  std::latch ready(static_cast<std::ptrdiff_t>(cpus.size()));
  std::vector<std::jthread> threads;
  const auto work = [&](std::size_t i) {
    if (!pin_to(cpus[i])) all_pinned = false;
    ready.arrive_and_wait();
    body(i);
  };
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    try {
      threads.emplace_back(work, i);
    } catch (const std::system_error&) {  // no more threads: those that run must not wait for it
      all_pinned = false;
      ready.count_down();
    }
  }
  threads.clear();
  return all_pinned;
}

TouchedMemory::TouchedMemory(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  data_ = {static_cast<std::byte*>(memory), UnmapMemory{bytes}};
  bytes_ = bytes;
}

void UnmapMemory::operator()(std::byte* memory) const { ::munmap(memory, bytes); }

void TouchedMemory::touch(std::uint8_t value) const {
  if (bytes_ > 0) std::memset(data_.get(), value, bytes_);
}

double time_read(const std::byte* memory, std::size_t bytes) {
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t sums[8] = {};
  for (std::size_t at = 0; at + sizeof sums <= bytes; at += sizeof sums) {
    std::uint64_t words[8];
    std::memcpy(words, memory + at, sizeof words);
    for (std::size_t i = 0; i < 8; ++i) sums[i] ^= words[i];
  }
  // The reads must not be left out as useless.
  asm volatile("" : : "r"(sums) : "memory");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace weft::topology
