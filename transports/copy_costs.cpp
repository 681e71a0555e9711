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

void ReceiverCosts::publish(PublishedCosts& published) {
  const std::chrono::nanoseconds taken = Clock::now() - begun_;
  CopyCost& cost = read_ ? read_cost_ : slot_;
  cost.learn(bytes_, taken.count());
  (read_ ? published.read_ns : published.slot_ns).store(cost.ns(), std::memory_order_relaxed);
  bytes_ = 0;
}

bool SenderCosts::read_next(const PublishedCosts& receiver) {
  const std::uint32_t read = receiver.read_ns.load(std::memory_order_relaxed);
  const std::uint32_t slot = receiver.slot_ns.load(std::memory_order_relaxed);
  ++messages_;
  // Until both are known they take turns.
  if (read == 0 || slot == 0 || fill_.ns() == 0) return messages_ % 2 == 0;
  const bool cheaper = std::uint64_t{read} * 8 < (std::uint64_t{slot} + fill_.ns()) * kEighths;
  return messages_ % kMessagesPerTrial == 0 ? !cheaper : cheaper;
}

}  // namespace weft::transports
