// Segment layout, its check, and the two lane tables.
#include "transports/segment.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

namespace weft::transports {

namespace {

constexpr std::size_t kTablesOffset = 4096;
static_assert(sizeof(SegmentHeader) <= kTablesOffset);

constexpr std::size_t rings_offset() {
  constexpr std::size_t kEnd = kTablesOffset + 2 * sizeof(LaneTable);
  return (kEnd + 4095) / 4096 * 4096;
}

Status corrupt(std::string_view what, std::uint64_t found, std::uint64_t expected) {
  return {Code::Corrupt,
          fmt::format("shared-memory segment has {} {}, this build of Weft needs {}; all ranks of a host must run "
                      "the same version of Weft",
                      what, found, expected)};
}

}  // namespace

std::size_t Segment::bytes(const RingLayout& layout) { return rings_offset() + 2 * kMaxLanes * layout.ring_bytes(); }

Segment Segment::format(std::byte* memory, const RingLayout& layout, const Nonce& nonce) {
  auto* header = reinterpret_cast<SegmentHeader*>(memory);
  *header = {SegmentHeader::kMagic, SegmentHeader::kVersion, kSlots, layout.slot_bytes, bytes(layout), nonce};
  return {memory, layout};
}

Result<Segment> Segment::open(std::byte* memory, std::size_t mapped_bytes) {
  if (mapped_bytes < rings_offset()) return corrupt("bytes", mapped_bytes, rings_offset());
  const auto header = *reinterpret_cast<const SegmentHeader*>(memory);  // one copy: the peer could change it meanwhile
  if (header.magic != SegmentHeader::kMagic) return corrupt("magic", header.magic, SegmentHeader::kMagic);
  if (header.version != SegmentHeader::kVersion) return corrupt("version", header.version, SegmentHeader::kVersion);
  if (header.slots != kSlots) return corrupt("slots a lane", header.slots, kSlots);
  if (header.total_bytes != mapped_bytes) return corrupt("bytes", header.total_bytes, mapped_bytes);
  const RingLayout layout{header.slot_bytes};
  const bool plausible = header.slot_bytes <= mapped_bytes && header.slot_bytes % 64 == 0;
  if (!plausible || bytes(layout) != mapped_bytes) return corrupt("slot bytes", header.slot_bytes, kDefaultSlotBytes);
  return Segment(memory, layout);
}

LaneTable& Segment::lanes(int side) const { return reinterpret_cast<LaneTable*>(memory_ + kTablesOffset)[side]; }

std::byte* Segment::ring(int side, std::size_t entry) const {
  return memory_ + rings_offset() + (static_cast<std::size_t>(side) * kMaxLanes + entry) * layout_.ring_bytes();
}

void Segment::discard_bulk(int side, std::size_t entry) const {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  std::byte* first = RingLayout::bulk(ring(side, entry));
  const auto begin = (reinterpret_cast<std::uintptr_t>(first) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(ring(side, entry) + layout_.ring_bytes()) / page * page;
  // Best effort: memory that stays is used again by the lane's next opening.
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_REMOVE);
}

Result<SegmentSide::Lane> SegmentSide::open(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  settle_abandoned();
  if (std::find(open_.begin(), open_.end(), id) != open_.end()) {
    return Status(Code::InvalidArgument,
                  fmt::format("lane {:#x} is already open on this side; a lane has one end here", id));
  }
  const std::ptrdiff_t index = free_entry();
  if (index < 0) {
    return Status(
        Code::ResourceExhausted,
        fmt::format("all {} lanes between two ranks are in use; destroy communicators that are no longer needed, or "
                    "use fewer channels (WEFT_CHANNELS)",
                    kMaxLanes));
  }
  const auto entry = static_cast<std::size_t>(index);
  LaneTable& table = segment_.lanes(side_);
  const std::uint64_t serial = table.opened.load(std::memory_order_relaxed) + 1;  // only this side writes it
  reset_ring(*RingLayout::lines(segment_.ring(side_, entry)));
  LaneEntry& opened = sent(entry);
  // The first time `receiver` is None already, and the peer may attach as soon as `sender` says Open: then it must not
  // be reset after that.
  const bool again = opened.sender.load(std::memory_order_relaxed) != LaneEntry::Sender::Free;
  opened.lane.store(id, std::memory_order_relaxed);
  opened.serial.store(serial, std::memory_order_relaxed);
  opened.given_up.store(0, std::memory_order_relaxed);
  opened.sender.store(LaneEntry::Sender::Open, std::memory_order_release);  // both pair with oldest_unattached
  if (again) opened.receiver.store(LaneEntry::Receiver::None, std::memory_order_release);
  table.opened.store(serial, std::memory_order_release);  // pairs with attach
  open_.push_back(id);
  given_up_[entry] = false;
  return Lane{id, entry, serial};
}

// Free means never used, or closed by both sides.
std::ptrdiff_t SegmentSide::free_entry() {
  for (std::size_t entry = 0; entry < kMaxLanes; ++entry) {
    const LaneEntry& lane = sent(entry);
    const auto sender = lane.sender.load(std::memory_order_relaxed);
    if (sender == LaneEntry::Sender::Open) continue;
    // The acquire pairs with finish_receiving: the peer touches the ring no more.
    if (sender == LaneEntry::Sender::Free ||
        lane.receiver.load(std::memory_order_acquire) == LaneEntry::Receiver::Done) {
      return static_cast<std::ptrdiff_t>(entry);
    }
  }
  return -1;
}

bool SegmentSide::attach(Lane& lane) {
  const std::uint64_t opened = segment_.lanes(1 - side_).opened.load(std::memory_order_acquire);
  if (opened == lane.seen) return false;
  lane.seen = opened;
  const std::lock_guard lock(mutex_);
  std::ptrdiff_t entry = oldest_unattached(lane.id);
  while (entry >= 0 && take_abandoned(lane.id)) {
    finish_receiving(static_cast<std::size_t>(entry));
    entry = oldest_unattached(lane.id);
  }
  if (entry < 0) return false;
  received(static_cast<std::size_t>(entry)).receiver.store(LaneEntry::Receiver::Attached, std::memory_order_relaxed);
  lane.receive_entry = entry;
  return true;
}

// The receiver's word is read first: None is either from before the first use of the entry, and then the sender's word
// tells whether the rest is there, or was stored last by open(), and then all of the rest is.
std::ptrdiff_t SegmentSide::oldest_unattached(std::uint64_t id) const {
  std::ptrdiff_t oldest = -1;
  std::uint64_t oldest_serial = 0;
  for (std::size_t entry = 0; entry < kMaxLanes; ++entry) {
    const LaneEntry& lane = received(entry);
    if (lane.receiver.load(std::memory_order_acquire) != LaneEntry::Receiver::None) continue;
    if (lane.sender.load(std::memory_order_acquire) == LaneEntry::Sender::Free) continue;
    if (lane.lane.load(std::memory_order_relaxed) != id) continue;
    const std::uint64_t serial = lane.serial.load(std::memory_order_relaxed);
    if (oldest >= 0 && serial > oldest_serial) continue;
    oldest = static_cast<std::ptrdiff_t>(entry);
    oldest_serial = serial;
  }
  return oldest;
}

bool SegmentSide::take_abandoned(std::uint64_t id) {
  const auto found = std::find(abandoned_.begin(), abandoned_.end(), id);
  if (found == abandoned_.end()) return false;
  abandoned_.erase(found);
  return true;
}

// Frees what the peer opened meanwhile under numbers that were closed here before. Bounded: the peer has kMaxLanes
// entries.
void SegmentSide::settle_abandoned() {
  for (std::size_t i = 0; i < abandoned_.size();) {
    const std::ptrdiff_t entry = oldest_unattached(abandoned_[i]);
    if (entry < 0) {
      ++i;
      continue;
    }
    finish_receiving(static_cast<std::size_t>(entry));
    abandoned_.erase(abandoned_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void SegmentSide::finish_receiving(std::size_t entry) {
  LaneEntry& lane = received(entry);
  if (lane.sender.load(std::memory_order_acquire) == LaneEntry::Sender::Closed) segment_.discard_bulk(1 - side_, entry);
  lane.receiver.store(LaneEntry::Receiver::Done, std::memory_order_release);  // pairs with free_entry
}

void SegmentSide::close(Lane& lane) {
  const std::lock_guard lock(mutex_);
  open_.erase(std::find(open_.begin(), open_.end(), lane.id));
  if (lane.receive_entry >= 0) {
    finish_receiving(static_cast<std::size_t>(lane.receive_entry));
  } else {
    abandoned_.push_back(lane.id);
    settle_abandoned();
  }
  LaneEntry& own = sent(lane.send_entry);
  if (own.receiver.load(std::memory_order_acquire) == LaneEntry::Receiver::Done) {
    segment_.discard_bulk(side_, lane.send_entry);  // else the peer does it, when it is done with the messages
  }
  own.sender.store(LaneEntry::Sender::Closed, std::memory_order_release);
}

void SegmentSide::give_up(const Lane& lane) {
  const std::lock_guard lock(mutex_);
  given_up_[lane.send_entry] = true;
  // Whoever reads what is written from now on sees that, too; pairs with SlotReceiver::find.
  sent(lane.send_entry).given_up.store(1, std::memory_order_seq_cst);
}

bool SegmentSide::has_read(const Lane& lane, std::uint64_t messages) {
  const std::lock_guard lock(mutex_);
  const LaneEntry& entry = sent(lane.send_entry);
  // It was opened again: the peer was done before.
  if (entry.serial.load(std::memory_order_relaxed) != lane.serial) return true;
  // The acquires pair with finish_receiving and SlotReceiver::release.
  if (entry.receiver.load(std::memory_order_acquire) == LaneEntry::Receiver::Done) return true;
  return RingLayout::lines(send_ring(lane))->credit.released.load(std::memory_order_acquire) >= messages;
}

bool SegmentSide::has_unread() {
  const std::lock_guard lock(mutex_);
  for (std::size_t entry = 0; entry < kMaxLanes; ++entry) {
    const LaneEntry& lane = sent(entry);
    if (given_up_[entry] || lane.sender.load(std::memory_order_relaxed) == LaneEntry::Sender::Free ||
        lane.receiver.load(std::memory_order_acquire) != LaneEntry::Receiver::None)
      continue;
    const RingLines* const ring = RingLayout::lines(segment_.ring(side_, entry));
    if (ring->lines[0].sequence.load(std::memory_order_relaxed) != 0) return true;
  }
  return false;
}

bool SegmentSide::closed_by_peer(const Lane& lane) const {
  if (lane.receive_entry < 0) return false;
  return received(static_cast<std::size_t>(lane.receive_entry)).sender.load(std::memory_order_acquire) ==
         LaneEntry::Sender::Closed;
}

}  // namespace weft::transports
