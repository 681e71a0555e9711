// SlotReceiver: the receiving side of a ring of slots. Starts detached, with nothing to receive, until attach() gives
// it the peer's ring.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "transports/copy_costs.hpp"
#include "transports/copy_line.hpp"
#include "transports/peer_memory.hpp"
#include "transports/region_table.hpp"
#include "transports/slot_ring.hpp"

namespace weft::transports {

class SlotReceiver final {
 public:
  // What of the sender's memory can be got at here. All outlive the receiver.
  struct Access {
    const RegionTable* regions = nullptr;  // as mapped here; null: none
    const PeerMemory* process = nullptr;   // null: it may not be read
    // Not 0 in it: the sender's memory no longer holds what was sent. Null only if process is.
    const std::atomic<std::uint32_t>* given_up = nullptr;
  };

  SlotReceiver() = default;
  void attach(std::byte* ring, const RingLayout& layout) { attach(ring, layout, Access()); }
  void attach(std::byte* ring, const RingLayout& layout, const Access& access) {
    lines_ = RingLayout::lines(ring)->lines.data();
    credit_ = &RingLayout::lines(ring)->credit;
    bulk_ = RingLayout::bulk(ring);
    slot_bytes_ = layout.slot_bytes;
    access_ = access;
  }
  void detach() { *this = SlotReceiver(); }
  bool attached() const { return lines_ != nullptr; }

  // Whether a message is at the front, whatever it is. Only when attached.
  bool arrived() const {
    return front().sequence.load(std::memory_order_acquire) == static_cast<std::uint32_t>(received_ + 1);
  }

  // The front message's bytes if it is here and as expected, else null. They are where `landing` is if they had to be
  // read from the sender's process. Only when attached.
  const void* receive(std::size_t bytes, void* landing, const Signature& expected) {
    WEFT_ASSERT(!lent_);
    const SlotLine& line = front();
    if (!arrived()) return nullptr;
    if ((line.bytes & kLengthMask) != bytes || line.signature != expected) [[unlikely]] {
      refused_ = received_ + 1;
      return nullptr;
    }
    const void* const place = bytes <= kLinePayload ? line.payload : find(line, landing);
    if (place == nullptr) [[unlikely]] {
      unreadable_ = received_ + 1;
      return nullptr;
    }
    lent_ = true;
    return place;
  }

  void release() {
    WEFT_ASSERT(lent_);
    lent_ = false;
    costs_.end(credit_->costs);
    const bool stays = (front().bytes & ~kLengthMask) != 0;
    ++received_;
    if (received_ % kCreditBatch == 0 || stays)
      credit_->released.store(received_, std::memory_order_release);  // pairs with SlotSender::learn_credit
  }

  // The front message if it is here and not lent. Only when attached.
  bool peek(Unexpected* what) const {
    if (lent_ || !arrived()) return false;
    *what = {front().signature, front().bytes & kLengthMask};
    return true;
  }
  // The same, if receive() found it not to be what was expected.
  bool unexpected(Unexpected* what) const { return refused_ == received_ + 1 && peek(what); }
  // Whether receive() could not get at the front message's bytes.
  bool unreadable() const { return unreadable_ == received_ + 1; }

 private:
  const SlotLine& front() const { return lines_[received_ % kSlots]; }

  // Where a long message is; null: nowhere that can be got at.
  const void* find(const SlotLine& line, void* landing) {
    const std::uint32_t bytes = line.bytes & kLengthMask;
    const bool addressed = (line.bytes & kAddressing) != 0;
    costs_.begin(bytes, addressed);
    if (bytes == line.bytes) return bulk_ + received_ % kSlots * slot_bytes_;
    std::uint64_t where = 0;
    copy_line(&where, line.payload, sizeof(where));
    if (!addressed) return access_.regions == nullptr ? nullptr : access_.regions->at(where, bytes);
    const bool read = access_.process != nullptr && landing != nullptr && access_.process->read(landing, where, bytes);
    // Asked after the system call has read; pairs with SegmentSide::give_up.
    return read && access_.given_up->load(std::memory_order_seq_cst) == 0 ? landing : nullptr;
  }

  const SlotLine* lines_ = nullptr;
  CreditLine* credit_ = nullptr;
  const std::byte* bulk_ = nullptr;
  std::size_t slot_bytes_ = 0;
  Access access_;
  ReceiverCosts costs_;
  std::uint64_t received_ = 0;
  std::uint64_t refused_ = 0;     // number of the last message that was not the expected one
  std::uint64_t unreadable_ = 0;  // of the last whose bytes could not be got at
  bool lent_ = false;
};

}  // namespace weft::transports
