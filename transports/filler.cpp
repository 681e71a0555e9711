// The cold part: how fast slots are filled through the caches.
#include "transports/filler.hpp"

#include <chrono>

namespace weft::transports {

namespace {

// Between what was measured of near receivers, 16 to 30 bytes a nanosecond, and of far ones, 4 to 6.
constexpr std::int64_t kSlowBytesPerNs = 10;

}  // namespace

void Filler::fill_timed(std::byte* slot, const void* data, std::size_t bytes) {
  const auto begin = std::chrono::steady_clock::now();
  base::copy_bytes(slot, data, bytes);
  const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
  learn(bytes, taken.count());
}

void Filler::learn(std::size_t bytes, std::int64_t taken_ns) {
  const bool slow = taken_ns * kSlowBytesPerNs > static_cast<std::int64_t>(bytes);
  far_ = slow && (far_ || was_slow_);
  was_slow_ = slow;
}

}  // namespace weft::transports
