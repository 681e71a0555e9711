// One exchange: the writer fills its buffer and says so; the reader copies it and says so. Waits are bounded.
#include "topology/measure/cache_copies.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <set>
#include <thread>

#include "topology/measure/pinned.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kBytes = std::size_t{1} << 20;  // larger than most second-level caches, smaller than the last
constexpr int kCopies = 15;
constexpr int kRoundTrips = 400;
constexpr auto kPatience = std::chrono::seconds(1);

// One step of a dialogue: each side waits for the other's number.
struct alignas(64) Turn {
  std::atomic<int> number{0};
};

class Dialogue {
 public:
  Dialogue() : source_(kBytes), target_(kBytes) {}

  bool has_memory() const { return source_.bytes() > 0 && target_.bytes() > 0; }

  void write() {
    for (int i = 1; i <= kCopies; ++i) {
      source_.touch(static_cast<std::uint8_t>(i));
      written_.number.store(i, std::memory_order_release);  // pairs with the acquire in wait_for()
      if (!wait_for(read_, i)) return;
    }
    for (int i = 1; i <= kRoundTrips; ++i) {
      written_.number.store(kCopies + i, std::memory_order_release);
      if (!wait_for(read_, kCopies + i)) return;
    }
  }

  void read() {
    target_.touch(0);
    std::vector<double> seconds;
    for (int i = 1; i <= kCopies; ++i) {
      if (!wait_for(written_, i)) return;
      const auto start = std::chrono::steady_clock::now();
      std::memcpy(target_.data(), source_.data(), kBytes);
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      read_.number.store(i, std::memory_order_release);  // pairs with the acquire in wait_for()
    }
    const auto start = std::chrono::steady_clock::now();
    for (int i = 1; i <= kRoundTrips; ++i) {
      if (!wait_for(written_, kCopies + i)) return;
      read_.number.store(kCopies + i, std::memory_order_release);
    }
    const std::chrono::duration<double, std::micro> trips = std::chrono::steady_clock::now() - start;
    result_ = {static_cast<double>(kBytes) / median_of(std::move(seconds)) / 1e9, trips.count() / kRoundTrips / 2};
    done_ = true;
  }

  const CacheCopy* result() const { return done_ ? &result_ : nullptr; }

 private:
  static bool wait_for(const Turn& turn, int number) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    for (unsigned spins = 0; turn.number.load(std::memory_order_acquire) < number; ++spins) {
      if (spins % 1024 != 1023) continue;
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();  // both may be on a CPU that somebody else wants
    }
    return true;
  }

  TouchedMemory source_;
  TouchedMemory target_;
  Turn written_;
  Turn read_;
  CacheCopy result_;
  bool done_ = false;
};

}  // namespace

std::optional<std::vector<CacheCopy>> time_copies(const std::vector<CopyPair>& pairs) {
  std::vector<int> cpus;
  std::vector<std::unique_ptr<Dialogue>> dialogues;
  for (const CopyPair& pair : pairs) {
    cpus.push_back(pair.writer);
    cpus.push_back(pair.reader);
    dialogues.push_back(std::make_unique<Dialogue>());
    if (!dialogues.back()->has_memory()) return std::nullopt;
  }
  if (std::set<int>(cpus.begin(), cpus.end()).size() != cpus.size()) return std::nullopt;
  const bool pinned = run_pinned(cpus, [&](std::size_t i) {
    if (i % 2 == 0)
      dialogues[i / 2]->write();
    else
      dialogues[i / 2]->read();
  });
  if (!pinned) return std::nullopt;
  std::vector<CacheCopy> results;
  for (const auto& dialogue : dialogues) {
    if (dialogue->result() == nullptr) return std::nullopt;
    results.push_back(*dialogue->result());
  }
  return results;
}

}  // namespace weft::topology
