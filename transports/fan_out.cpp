// Slots in turn, and which lane number has which of them.
#include "transports/fan_out.hpp"

#include <sys/mman.h>

#include <utility>

#include "transports/slot_sender.hpp"

namespace weft::transports {

namespace {

void forget_read(std::vector<FanOutMemory::AllRead>& unread) {
  std::erase_if(unread, [](const FanOutMemory::AllRead& all_read) { return all_read(); });
}

}  // namespace

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
  take_back();
  if (free_.empty()) return nullptr;
  const std::size_t index = free_.back();
  free_.pop_back();
  std::byte* const slots = memory_ + index * FanOut::kSlots * slot_bytes_;
  return &used_.emplace(lane, Used{FanOut(slots, slot_bytes_), index, 1, {}}).first->second.fan_out;
}

void FanOutMemory::close(std::uint64_t lane, AllRead all_read) {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(lane);
  if (found == used_.end()) return;
  Used& used = found->second;
  if (all_read) {
    forget_read(used.unread);
    used.unread.push_back(std::move(all_read));
  }
  if (--used.users > 0) return;
  retired_.push_back({used.index, std::move(used.unread)});
  used_.erase(found);
  take_back();
}

// With mutex_ held.
void FanOutMemory::take_back() {
  for (Retired& retired : retired_) forget_read(retired.unread);
  std::erase_if(retired_, [this](const Retired& retired) {
    if (!retired.unread.empty()) return false;
    const std::size_t own = FanOut::kSlots * slot_bytes_;
    // Best effort: memory that stays is used again.
    ::madvise(memory_ + retired.index * own, own, MADV_REMOVE);
    free_.push_back(retired.index);
    return true;
  });
}

}  // namespace weft::transports
