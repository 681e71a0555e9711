// SlotSender: the sending side of a ring of slots. Private to its thread but for what it writes into the ring.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "transports/copy_costs.hpp"
#include "transports/copy_line.hpp"
#include "transports/fan_out.hpp"
#include "transports/filler.hpp"
#include "transports/region_table.hpp"
#include "transports/slot_ring.hpp"

namespace weft::transports {

class SlotSender final {
 public:
  // What of this rank's memory the receiver can get at. All outlive the sender.
  struct Access {
    const RegionTable* regions = nullptr;                  // that it has mapped; null: none
    const std::atomic<std::uint32_t>* readable = nullptr;  // not 0 in it: all of the process; null: not that
  };

  SlotSender(std::byte* ring, const RingLayout& layout, const Access& access)
      : lines_(RingLayout::lines(ring)->lines.data()),
        credit_(&RingLayout::lines(ring)->credit),
        bulk_(RingLayout::bulk(ring)),
        slot_bytes_(layout.slot_bytes),
        access_(access) {}
  SlotSender(std::byte* ring, const RingLayout& layout) : SlotSender(ring, layout, Access()) {}
  SlotSender(const SlotSender&) = delete;
  SlotSender& operator=(const SlotSender&) = delete;
  ~SlotSender() {
    if (fan_out_ != nullptr) fan_out_->leave(*this);
  }

  // From now on messages may be sent from its slots, which the receiver can read; once. It outlives the sender.
  void share(FanOut& fan_out) {
    WEFT_ASSERT(fan_out_ == nullptr);
    fan_out_ = &fan_out;
    fan_out.join(*this);
  }
  FanOut* fan_out() const { return fan_out_; }
  void set_traffic(Traffic traffic) { costs_.set_traffic(traffic); }

  // Whether such a message had better stay where it is, even if it could be put into a slot for nothing.
  bool refers(const void* data, std::size_t bytes) const {
    if (bytes < kReferredBytes) return false;
    return place_of(data, bytes) != 0 || (may_be_read(bytes) && costs_.reads_cheaply(bytes, credit_->costs));
  }

  // Where the next message may be written by its sender, to be then given to send(); null if it is not to be in a slot,
  // or there is no room. Otherwise it would be sent from `source`.
  std::byte* stage(std::size_t bytes, const void* source) {
    return bytes <= kLinePayload || full() || refers(source, bytes) ? nullptr : slot();
  }
  // Whether it had better be written past the caches.
  bool far() const { return filler_.far(); }

  bool send(const void* data, std::size_t bytes, const Signature& signature) {
    WEFT_ASSERT(bytes <= slot_bytes_);
    if (full()) return false;
    Told told{bytes, 0};
    if (bytes > kLinePayload && data != slot()) told = bring(data, bytes);
    // Nothing of the line is written before: a receiver that looks at it meanwhile would take it away.
    SlotLine& line = lines_[posted_ % kSlots];
    if (bytes <= kLinePayload)
      copy_line(line.payload, data, bytes);
    else if (told.where != 0)
      copy_line(line.payload, &told.where, sizeof(told.where));
    line.bytes = static_cast<std::uint32_t>(told.bytes);
    line.signature = signature;
    ++posted_;
    line.sequence.store(static_cast<std::uint32_t>(posted_),
                        std::memory_order_release);  // pairs with SlotReceiver::arrived
    return true;
  }

  // The first messages that no longer read their source: they were copied when they were posted, but for those that
  // stay where they are.
  std::uint64_t done() {
    if (lent_ == 0) return posted_;
    learn_credit();
    for (std::uint64_t message = released_; lent_ > 0 && message < posted_; ++message)
      if (referred_[message % kSlots] == kSource) return message;
    return posted_;
  }

  // Of the messages posted so far, as many as must be given back for no slot of the FanOut to be held; 0: none is held,
  // as last seen.
  std::uint64_t shared_until() const {
    for (std::uint64_t message = posted_; message != released_; --message) {
      const std::uint8_t to = referred_[(message - 1) % kSlots];
      if (to != kNothing && to != kSource) return message;
    }
    return 0;
  }

  bool full() { return posted_ - released_ >= kSlots && !refresh(); }
  void close() { closed_ = true, released_ = posted_ - kSlots, lent_ = 0; }

  // Which messages were given back.
  void learn_credit() {
    if (closed_) return;
    const std::uint64_t released =
        credit_->released.load(std::memory_order_acquire);  // pairs with SlotReceiver::release
    if (referring_ == 0) {
      released_ = released;
      return;
    }
    for (; released_ != released; ++released_) end_reference(referred_[released_ % kSlots]);
  }

 private:
  // Shorter messages are copied sooner than their credit comes back.
  static constexpr std::size_t kReferredBytes = 8 * 1024;

  // What a message in the ring refers to: nothing, a slot of the FanOut (1 + its index), or where it was sent from.
  static constexpr std::uint8_t kNothing = 0;
  static constexpr std::uint8_t kSource = 0xff;

  // What a line tells of a long message: length and flags, and where it is if not in its slot.
  struct Told {
    std::size_t bytes;
    std::uint64_t where;
  };

  RemotePlace place_of(const void* data, std::size_t bytes) const {
    return access_.regions == nullptr ? 0 : access_.regions->find(data, bytes);
  }

  bool may_be_read(std::size_t bytes) const {
    return bytes >= kMeasuredBytes && access_.readable != nullptr &&
           access_.readable->load(std::memory_order_relaxed) != 0;
  }

  Told bring(const void* data, std::size_t bytes) {
    if (const RemotePlace place = place_of(data, bytes); place != 0) {
      if (region_of(place) == kFanOutRegion) {
        const std::size_t slot = fan_out_->slot_at(offset_of(place));
        fan_out_->hold(slot);
        return refer(static_cast<std::uint8_t>(slot + 1), {bytes | kReferring, place});
      }
      if (bytes >= kReferredBytes) return refer(kSource, {bytes | kReferring, place});
    } else if (may_be_read(bytes)) {
      if (costs_.read_next(bytes, credit_->costs))
        return refer(kSource, {bytes | kAddressing, reinterpret_cast<std::uintptr_t>(data)});
      if (!costs_.measures_fill(bytes)) {
        filler_.fill(slot(), data, bytes);
        return {bytes, 0};
      }
      const auto begun = std::chrono::steady_clock::now();
      filler_.fill(slot(), data, bytes);
      costs_.learn_fill(bytes, std::chrono::nanoseconds(std::chrono::steady_clock::now() - begun).count());
      return {bytes, 0};
    }
    filler_.fill(slot(), data, bytes);
    return {bytes, 0};
  }

  Told refer(std::uint8_t to, const Told& told) {
    ++referring_;
    if (to == kSource) ++lent_;
    referred_[posted_ % kSlots] = to;
    return told;
  }

  void end_reference(std::uint8_t& to) {
    if (to == kNothing) return;
    --referring_;
    if (to == kSource)
      --lent_;
    else
      fan_out_->drop(to - std::size_t{1});
    to = kNothing;
  }

  bool refresh() {
    if (closed_) return false;
    learn_credit();
    return posted_ - released_ < kSlots;
  }

  std::byte* slot() const { return bulk_ + posted_ % kSlots * slot_bytes_; }

  SlotLine* lines_;
  const CreditLine* credit_;
  std::byte* bulk_;
  std::size_t slot_bytes_;
  Access access_;
  FanOut* fan_out_ = nullptr;  // whose slots this lane shares
  std::uint64_t posted_ = 0;
  std::uint64_t released_ = 0;                   // as last seen
  std::uint32_t referring_ = 0;                  // messages in the ring that refer to anything
  std::uint32_t lent_ = 0;                       // of those, to where they were sent from
  std::array<std::uint8_t, kSlots> referred_{};  // by message
  bool closed_ = false;
  Filler filler_;
  SenderCosts costs_;
};

}  // namespace weft::transports
