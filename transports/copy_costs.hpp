// What it costs to bring long messages through slots, and to have them read from the sender's memory: measured at both
// ends while it is done, so that the sender takes the cheaper way.
//
// The receiver takes the time from a message's delivery to its return, which includes what its owner does with it, and
// publishes that beside its credit; the sender adds what filling the slot takes. Now and then the other way is tried.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace weft::transports {

// Shorter messages go through slots, and no clock is read.
inline constexpr std::size_t kMeasuredBytes = 16 * 1024;

// Time per kMeasuredBytes, smoothed. What takes very much longer than usual was interrupted, and counts for little.
class CopyCost final {
 public:
  void learn(std::size_t bytes, std::int64_t taken_ns);
  std::uint32_t ns() const { return ns_; }  // 0: not known yet

 private:
  std::uint32_t ns_ = 0;
};

// Of the receiving side; on the line of its credit. 0: not known yet.
struct PublishedCosts {
  std::atomic<std::uint32_t> slot_ns;
  std::atomic<std::uint32_t> read_ns;
};

// The receiver's: one message at a time.
class ReceiverCosts final {
 public:
  // A message is delivered.
  void begin(std::size_t bytes, bool read) {
    if (bytes < kMeasuredBytes) return;
    if (!read && slot_.ns() != 0 && ++slots_ % kSlotsPerProbe != 0) return;
    bytes_ = bytes;
    read_ = read;
    begun_ = Clock::now();
  }
  // It was returned.
  void end(PublishedCosts& published) {
    if (bytes_ != 0) publish(published);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint32_t kSlotsPerProbe = 16;

  void publish(PublishedCosts& published);

  CopyCost slot_;
  CopyCost read_cost_;
  std::size_t bytes_ = 0;  // 0: not measured
  bool read_ = false;
  std::uint32_t slots_ = 0;
  Clock::time_point begun_;
};

// The sender's.
class SenderCosts final {
 public:
  // Whether the next long message had better be read from where it is.
  bool read_next(const PublishedCosts& receiver);
  // Whether reading is cheaper even if the slot were filled for nothing.
  static bool reads_cheaply(const PublishedCosts& receiver) {
    const std::uint32_t read = receiver.read_ns.load(std::memory_order_relaxed);
    return read != 0 && read < receiver.slot_ns.load(std::memory_order_relaxed);
  }
  // Whether the next fill of a slot is to be timed: the first, and now and then.
  bool measures_fill() { return fill_.ns() == 0 || ++fills_ % kFillsPerProbe == 0; }
  // How long it took.
  void learn_fill(std::size_t bytes, std::int64_t taken_ns) { fill_.learn(bytes, taken_ns); }

 private:
  static constexpr std::uint32_t kMessagesPerTrial = 128;
  static constexpr std::uint32_t kFillsPerProbe = 16;
  // Of what slots cost: reading must be so much cheaper, because both ends are at work while slots are filled and
  // emptied, and because a sender has to hear that it was read.
  static constexpr std::uint32_t kEighths = 5;

  CopyCost fill_;
  std::uint32_t fills_ = 0;
  std::uint32_t messages_ = 0;
};

}  // namespace weft::transports
