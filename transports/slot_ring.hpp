// The ring of slots: one direction of a lane over memory that two threads or processes share.
//
//   lines   16 x 64 bytes, written by the sender:   | sequence | bytes | signature | payload (40) |
//   credit  two lines, written by the receiver:     | messages released so far | what they cost   |
//   bulk    16 slots of slot_bytes, for payloads above 40 bytes
//
// Message n (from 0) uses line and slot n % 16 and is there once the line's sequence is n + 1. A payload of up to 40
// bytes travels in the line, so that a small message is one cache-line transfer. Longer ones are put into the slot
// before the line is published, or stay where they are in memory of the sender that the receiver has mapped
// (RegionTable) or may read (PeerMemory): then the line says where, and its credit is returned as soon as it was read.
// The release-store of the sequence pairs with the receiver's acquire-load, the store of the credit with the sender's:
// these two are the only synchronisation, and no locked instruction or fence is used. Cursors are private to their side
// (SlotSender, SlotReceiver).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transports/copy_costs.hpp"
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

// In SlotLine::bytes: the payload begins with where the bytes are, a RemotePlace or an address in the sender's process.
inline constexpr std::uint32_t kReferring = std::uint32_t{1} << 31;
inline constexpr std::uint32_t kAddressing = std::uint32_t{1} << 30;
inline constexpr std::uint32_t kLengthMask = kAddressing - 1;

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
  PublishedCosts costs;
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
  for (PublishedCost& cost : ring.credit.costs) {
    cost.slot_ns.store(0, std::memory_order_relaxed);
    cost.read_ns.store(0, std::memory_order_relaxed);
  }
}

}  // namespace weft::transports
