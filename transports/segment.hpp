// Segment: the memory that one pair of ranks shares: a versioned header, a table of lanes per direction, and the rings.
//
//   header | lanes that side 0 sends on | lanes that side 1 sends on | rings of side 0 | rings of side 1
//
// Each side opens the rings it *sends* on, in a table that only it writes, and looks for the ring it receives on in the
// other side's table. So either side may open a lane first, nobody waits, and there is no word that both sides write: a
// peer that dies at any point leaves nothing locked. Untouched rings cost address space only.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "transports/nonce.hpp"
#include "transports/slot_ring.hpp"
#include "weft/status.hpp"

namespace weft::transports {

inline constexpr std::size_t kMaxLanes = 256;  // open at a time between two ranks

// A lane as its sending side opened it. `sender` is written by the sending side only; `receiver` by the receiving side,
// but for the reset by the sender when it takes a finished entry again. Each becomes visible with a release-store after
// what it announces.
struct alignas(64) LaneEntry {
  enum class Sender : std::uint32_t { Free, Open, Closed };
  enum class Receiver : std::uint32_t { None, Attached, Done };

  std::atomic<Sender> sender;
  std::atomic<Receiver> receiver;
  std::atomic<std::uint64_t> lane;
  std::atomic<std::uint64_t> serial;    // counts the openings of this table: the order among entries of the same lane
  std::atomic<std::uint32_t> given_up;  // not 0: what messages refer to may have changed since; the sender's word, too
};

struct LaneTable {
  std::atomic<std::uint32_t> reads_peer;          // not 0: this side can read the memory of the other side's process
  alignas(64) std::atomic<std::uint64_t> opened;  // serial of the newest entry; changes when there may be something to
                                                  // attach to
  std::array<LaneEntry, kMaxLanes> entries;
};

// Bytes in memory that a process of another build may map: change kVersion with anything here, in RingLines or in
// RingLayout.
struct SegmentHeader {
  static constexpr std::uint64_t kMagic = 0x746d676573746677;  // "wftsegmt"
  static constexpr std::uint32_t kVersion = 3;

  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t slots;
  std::uint64_t slot_bytes;
  std::uint64_t total_bytes;
  Nonce nonce;
};

// A view of mapped memory; owns nothing. Copies refer to the same memory.
class Segment {
 public:
  static std::size_t bytes(const RingLayout& layout);
  // Lays out fresh, zeroed memory of bytes(layout) bytes.
  static Segment format(std::byte* memory, const RingLayout& layout, const Nonce& nonce);
  // What another process laid out, as mapped. Corrupt, naming what differs, if it is not a segment of this version.
  static Result<Segment> open(std::byte* memory, std::size_t mapped_bytes);

  const RingLayout& layout() const { return layout_; }
  const SegmentHeader& header() const { return *reinterpret_cast<const SegmentHeader*>(memory_); }
  LaneTable& lanes(int side) const;
  std::byte* ring(int side, std::size_t entry) const;
  // Gives the pages of a ring's bulk area back to the system. Nobody may be using them.
  void discard_bulk(int side, std::size_t entry) const;

 private:
  Segment(std::byte* memory, const RingLayout& layout) : memory_(memory), layout_(layout) {}

  std::byte* memory_;
  RingLayout layout_;
};

// One side's use of a segment's lanes; one per process (or rank) and segment. Thread-safe; cold.
class SegmentSide {
 public:
  SegmentSide(Segment segment, int side) : segment_(segment), side_(side) {}

  struct Lane {
    std::uint64_t id = 0;
    std::size_t send_entry = 0;         // in this side's table
    std::uint64_t serial = 0;           // of this opening
    std::ptrdiff_t receive_entry = -1;  // in the peer's table; -1 until attached
    std::uint64_t seen = 0;             // how far the peer's table was searched
  };

  // Opens the sending ring. InvalidArgument if the lane is open here, ResourceExhausted if the table is full.
  Result<Lane> open(std::uint64_t id);
  // Looks for the peer's ring of this lane; true once lane.receive_entry is set. Cheap while the peer opened nothing
  // new.
  bool attach(Lane& lane);
  void close(Lane& lane);
  bool closed_by_peer(const Lane& lane) const;
  // Whether the peer reads none of the first `messages` on a lane any more. Also after the lane was closed here.
  bool has_read(const Lane& lane, std::uint64_t messages);
  // Whether a lane was sent on that the peer did not attach to yet; without those given up.
  bool has_unread();
  // What was sent on the lane need not be read any more, and its sources may change afterwards.
  void give_up(const Lane& lane);
  // Whether the peer has done so; the lane is attached. To be looked at after what it sent was read.
  const std::atomic<std::uint32_t>& given_up_by_peer(const Lane& lane) const {
    return received(static_cast<std::size_t>(lane.receive_entry)).given_up;
  }

  // That this side can read the peer's process, and whether the peer can read this one.
  void tell_reads_peer() { segment_.lanes(side_).reads_peer.store(1, std::memory_order_relaxed); }
  const std::atomic<std::uint32_t>& read_by_peer() const { return segment_.lanes(1 - side_).reads_peer; }

  std::byte* send_ring(const Lane& lane) const { return segment_.ring(side_, lane.send_entry); }
  std::byte* receive_ring(const Lane& lane) const {
    return segment_.ring(1 - side_, static_cast<std::size_t>(lane.receive_entry));
  }
  const RingLayout& layout() const { return segment_.layout(); }

 private:
  std::ptrdiff_t free_entry();
  std::ptrdiff_t oldest_unattached(std::uint64_t id) const;
  bool take_abandoned(std::uint64_t id);
  void settle_abandoned();
  void finish_receiving(std::size_t entry);
  LaneEntry& sent(std::size_t entry) { return segment_.lanes(side_).entries[entry]; }
  LaneEntry& received(std::size_t entry) const { return segment_.lanes(1 - side_).entries[entry]; }

  std::mutex mutex_;
  Segment segment_;
  int side_;
  std::vector<std::uint64_t> open_;
  std::array<bool, kMaxLanes> given_up_{};  // by entry of this side's table
  // Lanes closed here before the peer opened them: what the peer may yet open under that number belongs to the past.
  std::vector<std::uint64_t> abandoned_;
};

}  // namespace weft::transports
