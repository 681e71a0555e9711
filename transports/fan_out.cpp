// Slots in turn, and which lane number has which of them.
#include "transports/fan_out.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "transports/slot_sender.hpp"

namespace weft::transports {

std::byte* FanOut::acquire() {
  if (std::byte* const slot = find_free(); slot != nullptr) return slot;
  for (SlotSender* const sender : senders_) sender->learn_credit();
  return find_free();
}

// In turn: the one that was used last is still in the caches of those who read it.
std::byte* FanOut::find_free() {
  for (std::size_t tried = 0; tried < kSlots; ++tried) {
    const std::size_t slot = next_;
    next_ = (next_ + 1) % kSlots;
    if (holders_[slot] == 0) return memory_ + slot * slot_bytes_;
  }
  return nullptr;
}

bool FanOut::held() const {
  return std::ranges::any_of(holders_, [](std::uint16_t holders) { return holders > 0; });
}

FanOutMemory::FanOutMemory(std::byte* memory, std::size_t slot_bytes) : memory_(memory), slot_bytes_(slot_bytes) {
  if (memory == nullptr) return;
  for (std::size_t index = kFanOuts; index > 0; --index) free_.push_back(index - 1);
}

FanOut* FanOutMemory::open(std::uint64_t lane) {
  const std::lock_guard lock(mutex_);
  if (const auto found = used_.find(lane); found != used_.end()) {
    ++found->second.users;
    return &found->second.fan_out;
  }
  if (free_.empty()) return nullptr;
  const std::size_t index = free_.back();
  free_.pop_back();
  std::byte* const slots = memory_ + index * FanOut::kSlots * slot_bytes_;
  return &used_.emplace(lane, Used{FanOut(slots, slot_bytes_), index, 1}).first->second.fan_out;
}

// Slots that a peer may still read are never given out again: a rank may close its lanes before its last messages are
// read. That is rare, and lanes do without a FanOut once all are gone.
void FanOutMemory::close(std::uint64_t lane) {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(lane);
  if (found == used_.end()) return;
  if (--found->second.users > 0) return;
  if (!found->second.fan_out.held()) {
    const std::size_t own = FanOut::kSlots * slot_bytes_;
    // Best effort: memory that stays is used again.
    ::madvise(memory_ + found->second.index * own, own, MADV_REMOVE);
    free_.push_back(found->second.index);
  }
  used_.erase(found);
}

}  // namespace weft::transports
