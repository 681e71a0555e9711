// What it costs to bring long messages through slots, and to have them read from the sender's memory: measured at both
// ends while it is done, so that the sender takes the cheaper way.
//
// The receiver takes the time from a message's delivery to its return, which includes what its owner does with it, and
// publishes that beside its credit; the sender adds what filling the slot takes. Now and then the other way is tried.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transports/transport.hpp"

namespace weft::transports {

// Shorter messages go through slots, and no clock is read.
inline constexpr std::size_t kMeasuredBytes = 16 * 1024;
// From 16, 32 and 64 KiB on: a system call's own time counts for the more the shorter a message is.
inline constexpr std::size_t kCostSizes = 3;
inline std::size_t cost_size(std::size_t bytes) {
  const auto doublings = static_cast<std::size_t>(std::bit_width(bytes / kMeasuredBytes)) - 1;
  return doublings < kCostSizes ? doublings : kCostSizes - 1;
}

// Time per kMeasuredBytes, smoothed. What takes very much longer than usual was interrupted, and counts for little.
class CopyCost final {
 public:
  void learn(std::size_t bytes, std::int64_t taken_ns);
  std::uint32_t ns() const { return ns_; }  // 0: not known yet

 private:
  std::uint32_t ns_ = 0;
};

// Of the receiving side; beside its credit. 0: not known yet.
struct PublishedCost {
  std::atomic<std::uint32_t> slot_ns;
  std::atomic<std::uint32_t> read_ns;
};
using PublishedCosts = std::array<PublishedCost, kCostSizes>;

// The receiver's: one message at a time.
class ReceiverCosts final {
 public:
  // A message is delivered.
  void begin(std::size_t bytes, bool read) {
    if (bytes < kMeasuredBytes) return;
    Known& known = known_[cost_size(bytes)];
    if (!read && bytes < kTimedBytes && ++known.slots % kSlotsPerProbe != 0) return;
    bytes_ = bytes;
    read_ = read;
    begun_ = Clock::now();
  }
  // It was returned.
  void end(PublishedCosts& published) {
    if (bytes_ != 0) publish(published[cost_size(bytes_)]);
  }

 private:
  using Clock = std::chrono::steady_clock;
  // Of shorter ones in slots the clock is read for some only.
  static constexpr std::size_t kTimedBytes = 2 * kMeasuredBytes;
  static constexpr std::uint32_t kSlotsPerProbe = 4;

  struct Known {
    CopyCost slot;
    CopyCost read;
    std::uint32_t slots = 0;
  };

  void publish(PublishedCost& published);

  std::array<Known, kCostSizes> known_;
  std::size_t bytes_ = 0;  // 0: not measured
  bool read_ = false;
  Clock::time_point begun_;
};

// The sender's, of messages of kMeasuredBytes or more.
class SenderCosts final {
 public:
  void set_traffic(Traffic traffic) { traffic_ = traffic; }
  // Whether the next such message had better be read from where it is.
  bool read_next(std::size_t bytes, const PublishedCosts& receiver);
  // Whether reading is cheaper even if the slot were filled for nothing.
  bool reads_cheaply(std::size_t bytes, const PublishedCosts& receiver) const {
    const PublishedCost& cost = receiver[cost_size(bytes)];
    const std::uint32_t read = cost.read_ns.load(std::memory_order_relaxed);
    return traffic_ != Traffic::Reduced && read != 0 && read < cost.slot_ns.load(std::memory_order_relaxed);
  }
  // Whether the next fill of a slot is to be timed: the first, and now and then.
  bool measures_fill(std::size_t bytes) {
    Known& known = known_[cost_size(bytes)];
    return known.fill.ns() == 0 || ++known.fills % kFillsPerProbe == 0;
  }
  // How long it took.
  void learn_fill(std::size_t bytes, std::int64_t taken_ns) { known_[cost_size(bytes)].fill.learn(bytes, taken_ns); }

 private:
  // The other way is tried by several in a row, because the first finds slots that the caches have forgotten; at first
  // more often, because what was seen first may be unusual.
  static constexpr std::uint32_t kTrials = 8;
  static constexpr std::uint32_t kMessagesPerTrials = 512;
  static constexpr std::uint32_t kMessagesPerEarlyTrials = 64;
  static constexpr std::uint32_t kEarlyMessages = 256;
  static constexpr std::uint32_t kFillsPerProbe = 16;
  bool is_cheaper(std::uint64_t read, std::uint64_t slot, std::uint64_t fill) const;

  struct Known {
    CopyCost fill;
    std::uint32_t fills = 0;
    std::uint32_t messages = 0;
  };

  std::array<Known, kCostSizes> known_;
  Traffic traffic_ = Traffic::OneWay;
};

}  // namespace weft::transports
