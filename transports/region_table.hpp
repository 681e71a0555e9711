// RegionTable: memory of one rank that another has mapped, by number, so that a message may say where its bytes lie
// instead of bringing them.
//
// The two ends of a connection keep one table for each direction: the sender's says what of its memory the receiver can
// read, the receiver's where it has mapped it. Looking up is for any thread at any time; an entry is found by those
// whose messages were sent after it was added.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "transports/transport.hpp"

namespace weft::transports {

// Every rank's number 0 is the memory behind its FanOuts.
inline constexpr std::uint32_t kFanOutRegion = 0;

// A place in the memory of a rank, as messages tell it: region and offset. 0 is none.
using RemotePlace = std::uint64_t;
inline constexpr int kOffsetBits = 40;
inline constexpr std::size_t kMaxRegionBytes = std::size_t{1} << kOffsetBits;
inline constexpr std::uint32_t kMaxRegionNumber = (1U << (64 - kOffsetBits)) - 2;
constexpr std::uint32_t region_of(RemotePlace place) { return static_cast<std::uint32_t>(place >> kOffsetBits) - 1; }
constexpr std::size_t offset_of(RemotePlace place) { return place & (kMaxRegionBytes - 1); }

class RegionTable final {
 public:
  static constexpr std::size_t kCapacity = 64;  // at a time

  // False: there are kCapacity already.
  bool add(const Region& region);
  void remove(std::uint32_t number);

  // Where [data, data + bytes) is, if all of it is in one region; else 0.
  RemotePlace find(const void* data, std::size_t bytes) const {
    const std::size_t used = used_.load(std::memory_order_acquire);  // pairs with add
    for (std::size_t i = 0; i < used; ++i) {
      const Region* const region = entries_[i].load(std::memory_order_acquire);
      if (region == nullptr) continue;
      const auto offset = reinterpret_cast<std::uintptr_t>(data) - reinterpret_cast<std::uintptr_t>(region->data);
      if (offset < region->bytes && bytes <= region->bytes - offset)
        return (std::uint64_t{region->number} + 1) << kOffsetBits | offset;
    }
    return 0;
  }

  // The memory of a place, or null if the table has none of which it and `bytes` are part.
  const std::byte* at(RemotePlace place, std::size_t bytes) const {
    const std::size_t used = used_.load(std::memory_order_acquire);  // pairs with add
    for (std::size_t i = 0; i < used; ++i) {
      const Region* const region = entries_[i].load(std::memory_order_acquire);
      if (region == nullptr || region->number != region_of(place)) continue;
      const std::size_t offset = offset_of(place);
      return offset < region->bytes && bytes <= region->bytes - offset ? region->data + offset : nullptr;
    }
    return nullptr;
  }

 private:
  std::mutex mutex_;  // of those who add and remove
  // What an entry pointed to stays until the end, for those who are looking at it.
  std::deque<Region> regions_;
  std::array<std::atomic<const Region*>, kCapacity> entries_{};
  std::atomic<std::size_t> used_{0};  // entries that ever were
};

// Both tables of one end of a connection.
struct ConnectionRegions {
  RegionTable ours;    // that the peer has mapped
  RegionTable theirs;  // as mapped here
};

}  // namespace weft::transports
