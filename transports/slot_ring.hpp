// SlotRing: one direction of a lane over memory that two threads or processes share.
//
//   lines   16 x 64 bytes, written by the sender:   | sequence | bytes | signature | payload (40) |
//   credit  one line, written by the receiver:      | messages released so far                    |
//   bulk    16 slots of slot_bytes, for payloads above 40 bytes
//
// Message n (from 0) uses line and slot n % 16 and is there once the line's sequence is n + 1. A payload of up to 40
// bytes travels in the line, so that a small message is one cache-line transfer. Longer ones are put into the slot
// before the line is published. The release-store of the sequence pairs with the receiver's acquire-load, the store of
// the credit with the sender's: these two are the only synchronisation, and no locked instruction or fence is used.
// Cursors are private to their side.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "transports/copy_line.hpp"
#include "transports/filler.hpp"
#include "transports/transport.hpp"

namespace weft::transports {

inline constexpr std::uint64_t kSlots = 16;
inline constexpr std::uint64_t kCreditBatch = 8;
inline constexpr std::size_t kLinePayload = 40;
inline constexpr std::size_t kDefaultSlotBytes = 64 * 1024;

// Credits are returned every 8 slots to save a cache-line transfer, so a sender may see up to 7 free slots too few. A
// sender waits only when it sees 16 slots taken; once the receiver has released these, at least one of the 16 releases
// was a multiple of 8 and returned its credit. So it never waits for ever, however many sends its owner holds back, if:
static_assert(kSlots >= kCreditBatch);
// Sequences are 32 bits and wrap; a slot must then still see them in order.
static_assert((std::uint64_t{1} << 32) % kSlots == 0);

struct alignas(64) SlotLine {
  std::atomic<std::uint32_t> sequence;  // 0: never written
  std::uint32_t bytes;
  Signature signature;
  std::byte payload[kLinePayload];
};
static_assert(sizeof(SlotLine) == 64 && std::atomic<std::uint32_t>::is_always_lock_free);

// Alone on two lines: processors fetch lines in pairs.
struct alignas(128) CreditLine {
  std::atomic<std::uint64_t> released;
};
static_assert(sizeof(CreditLine) == 128 && std::atomic<std::uint64_t>::is_always_lock_free);

struct RingLines {
  std::array<SlotLine, kSlots> lines;
  CreditLine credit;
};

// Where a ring's parts lie.
struct RingLayout {
  std::size_t slot_bytes = kDefaultSlotBytes;

  constexpr std::size_t ring_bytes() const { return sizeof(RingLines) + kSlots * slot_bytes; }
  static RingLines* lines(std::byte* ring) { return reinterpret_cast<RingLines*>(ring); }
  static std::byte* bulk(std::byte* ring) { return ring + sizeof(RingLines); }
};

// A ring that nobody uses becomes empty: by the sender, before it tells the receiver of it.
inline void reset_ring(RingLines& ring) {
  for (SlotLine& line : ring.lines) line.sequence.store(0, std::memory_order_relaxed);
  ring.credit.released.store(0, std::memory_order_relaxed);
}

// The sending side. Private to its thread but for what it writes into the ring.
class SlotSender final {
 public:
  SlotSender(std::byte* ring, const RingLayout& layout)
      : lines_(RingLayout::lines(ring)->lines.data()),
        credit_(&RingLayout::lines(ring)->credit),
        bulk_(RingLayout::bulk(ring)),
        slot_bytes_(layout.slot_bytes) {}

  // Where the next message may be written by its sender, to be then given to send(); null if it is not to be in a slot,
  // or there is no room.
  std::byte* stage(std::size_t bytes) { return bytes <= kLinePayload || full() ? nullptr : slot(); }
  // Whether it had better be written past the caches.
  bool far() const { return filler_.far(); }

  bool send(const void* data, std::size_t bytes, const Signature& signature) {
    WEFT_ASSERT(bytes <= slot_bytes_);
    if (posted_ - released_ >= kSlots && !refresh()) return false;
    SlotLine& line = lines_[posted_ % kSlots];
    if (bytes <= kLinePayload)
      copy_line(line.payload, data, bytes);
    else if (data != slot())
      filler_.fill(slot(), data, bytes);
    line.bytes = static_cast<std::uint32_t>(bytes);
    line.signature = signature;
    ++posted_;
    line.sequence.store(static_cast<std::uint32_t>(posted_),
                        std::memory_order_release);  // pairs with SlotReceiver::arrived
    return true;
  }

  // A message is copied when it is posted.
  std::uint64_t posted() const { return posted_; }
  bool full() { return posted_ - released_ >= kSlots && !refresh(); }
  void close() { closed_ = true, released_ = posted_ - kSlots; }

 private:
  bool refresh() {
    if (closed_) return false;
    released_ = credit_->released.load(std::memory_order_acquire);  // pairs with SlotReceiver::release
    return posted_ - released_ < kSlots;
  }

  std::byte* slot() const { return bulk_ + posted_ % kSlots * slot_bytes_; }

  SlotLine* lines_;
  const CreditLine* credit_;
  std::byte* bulk_;
  std::size_t slot_bytes_;
  std::uint64_t posted_ = 0;
  std::uint64_t released_ = 0;  // as last seen
  bool closed_ = false;
  Filler filler_;
};

// The receiving side. Starts detached, with nothing to receive, until attach() gives it the peer's ring.
class SlotReceiver final {
 public:
  SlotReceiver() = default;
  void attach(std::byte* ring, const RingLayout& layout) {
    lines_ = RingLayout::lines(ring)->lines.data();
    credit_ = &RingLayout::lines(ring)->credit;
    bulk_ = RingLayout::bulk(ring);
    slot_bytes_ = layout.slot_bytes;
  }
  void detach() { *this = SlotReceiver(); }
  bool attached() const { return lines_ != nullptr; }

  // Whether a message is at the front, whatever it is. Only when attached.
  bool arrived() const {
    return front().sequence.load(std::memory_order_acquire) == static_cast<std::uint32_t>(received_ + 1);
  }

  // The front message's bytes if it is here and as expected, else null. Only when attached.
  const void* receive(std::size_t bytes, const Signature& expected) {
    WEFT_ASSERT(!lent_);
    const SlotLine& line = front();
    if (!arrived()) return nullptr;
    if (line.bytes != bytes || line.signature != expected) [[unlikely]] {
      refused_ = received_ + 1;
      return nullptr;
    }
    lent_ = true;
    return bytes <= kLinePayload ? line.payload : bulk_ + received_ % kSlots * slot_bytes_;
  }

  void release() {
    WEFT_ASSERT(lent_);
    lent_ = false;
    ++received_;
    if (received_ % kCreditBatch == 0) {
      credit_->released.store(received_, std::memory_order_release);  // pairs with SlotSender::refresh
    }
  }

  // The front message if it is here and not lent. Only when attached.
  bool peek(Unexpected* what) const {
    if (lent_ || !arrived()) return false;
    *what = {front().signature, front().bytes};
    return true;
  }
  // The same, if receive() found it not to be what was expected.
  bool unexpected(Unexpected* what) const { return refused_ == received_ + 1 && peek(what); }

 private:
  const SlotLine& front() const { return lines_[received_ % kSlots]; }

  const SlotLine* lines_ = nullptr;
  CreditLine* credit_ = nullptr;
  const std::byte* bulk_ = nullptr;
  std::size_t slot_bytes_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t refused_ = 0;  // number of the last message that was not the expected one
  bool lent_ = false;
};

}  // namespace weft::transports
