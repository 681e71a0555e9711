// FanOut: slots from which one rank sends the same bytes to several peers: filled once, read by all of them.
//
// The lanes of one number, which are one thread's at a time, share a FanOut. A message from it names the slot; the
// sending lane holds the slot until the receiver gives the message back. FanOutMemory is where a rank's FanOuts lie:
// the region that each of its peers maps when they are joined.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "transports/filler.hpp"
#include "transports/region_table.hpp"

namespace weft::transports {

class SlotSender;

class FanOut final {
 public:
  static constexpr std::size_t kSlots = 16;

  FanOut(std::byte* memory, std::size_t slot_bytes) : memory_(memory), slot_bytes_(slot_bytes) {}

  // A slot that nobody reads; null: there is none now. Nobody else is given it before a lane holds it.
  std::byte* acquire();
  void fill(std::byte* slot, const void* data, std::size_t bytes) { filler_.fill(slot, data, bytes); }
  // Whether slots had better be written past the caches.
  bool far() const { return filler_.far(); }

  std::size_t slot_at(std::size_t offset_in_region) const { return offset_in_region / slot_bytes_ % kSlots; }
  void hold(std::size_t slot) { ++holders_[slot]; }
  void drop(std::size_t slot) { --holders_[slot]; }

  // The lanes that may hold slots.
  void join(SlotSender& sender) { senders_.push_back(&sender); }
  void leave(SlotSender& sender) { std::erase(senders_, &sender); }

 private:
  std::byte* find_free();

  std::byte* memory_;
  std::size_t slot_bytes_;
  std::size_t next_ = 0;
  std::array<std::uint16_t, kSlots> holders_{};
  std::vector<SlotSender*> senders_;
  Filler filler_;
};

// Thread-safe; cold.
//
// A lane may be closed before its last messages are read. The slots of its number are then *retired*: nobody writes
// them until every receiver is done with them, which is asked whenever one is opened or closed.
class FanOutMemory final {
 public:
  static constexpr std::size_t kFanOuts = 64;  // at a time, with those retired; lanes beyond do without

  // Whether a receiver is done with what a closed lane sent from its FanOut. Asked by any thread, as long as the memory
  // lives, until it says so; opens and closes nothing here.
  using AllRead = std::function<bool()>;

  static constexpr std::size_t bytes(std::size_t slot_bytes) { return kFanOuts * FanOut::kSlots * slot_bytes; }
  // `memory`: bytes(slot_bytes) of them, or null: then there is no FanOut.
  FanOutMemory(std::byte* memory, std::size_t slot_bytes);

  // Of that lane number, made by the first who opens it. Null: there is none for it now. Each open is closed once.
  FanOut* open(std::uint64_t lane);
  // `all_read`: of a lane whose receiver may still read slots; empty: it holds none.
  void close(std::uint64_t lane, AllRead all_read = {});

  Region region() const { return {kFanOutRegion, memory_, bytes(slot_bytes_)}; }

 private:
  struct Used {
    FanOut fan_out;
    std::size_t index;
    int users;
    std::vector<AllRead> unread;  // of its lanes that were closed
  };
  struct Retired {
    std::size_t index;
    std::vector<AllRead> unread;
  };

  void take_back();

  std::mutex mutex_;
  std::byte* memory_;
  std::size_t slot_bytes_;
  std::vector<std::size_t> free_;
  std::map<std::uint64_t, Used> used_;  // by lane number
  std::vector<Retired> retired_;
};

}  // namespace weft::transports
