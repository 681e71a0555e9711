// Smoothing and comparing.
#include "transports/copy_costs.hpp"

#include <algorithm>

namespace weft::transports {

void CopyCost::learn(std::size_t bytes, std::int64_t taken_ns) {
  constexpr std::int64_t kWeight = 8;   // of what is known against a new time
  constexpr std::int64_t kUnusual = 4;  // times as long as usual
  const std::int64_t known = ns_;
  const std::int64_t time = std::max<std::int64_t>(
      taken_ns * static_cast<std::int64_t>(kMeasuredBytes) / static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1)),
      1);
  const std::int64_t counted = known == 0 ? time : std::min(time, known * kUnusual);
  const std::int64_t next = known == 0 ? counted : known + (counted - known) / kWeight;
  ns_ = static_cast<std::uint32_t>(std::clamp<std::int64_t>(next, 1, 1'000'000'000));
}

void ReceiverCosts::publish(PublishedCost& published) {
  const std::chrono::nanoseconds taken = Clock::now() - begun_;
  Known& known = known_[cost_size(bytes_)];
  CopyCost& cost = read_ ? known.read : known.slot;
  cost.learn(bytes_, taken.count());
  (read_ ? published.read_ns : published.slot_ns).store(cost.ns(), std::memory_order_relaxed);
  bytes_ = 0;
}

bool SenderCosts::read_next(std::size_t bytes, const PublishedCosts& receiver) {
  if (traffic_ == Traffic::Reduced) return false;
  const std::size_t size = cost_size(bytes);
  const std::uint32_t read = receiver[size].read_ns.load(std::memory_order_relaxed);
  const std::uint32_t slot = receiver[size].slot_ns.load(std::memory_order_relaxed);
  const std::uint32_t fill = known_[size].fill.ns();
  const std::uint32_t message = known_[size].messages++;
  // Until both are known they take turns.
  if (read == 0 || slot == 0 || fill == 0) return message % 2 != 0;
  const bool cheaper = is_cheaper(read, slot, fill);
  const std::uint32_t period = message < kEarlyMessages ? kMessagesPerEarlyTrials : kMessagesPerTrials;
  return message % period >= period - kTrials ? !cheaper : cheaper;
}

// A rank that sends and receives fills and empties slots in turn. One that only sends fills them while the receiver
// empties others, and while its messages are read it waits.
bool SenderCosts::is_cheaper(std::uint64_t read, std::uint64_t slot, std::uint64_t fill) const {
  return read * (traffic_ == Traffic::BothWays ? 1 : 2) < slot + fill;
}

}  // namespace weft::transports
