// Adding and removing; cold.
#include "transports/region_table.hpp"

#include "base/assert.hpp"

namespace weft::transports {

bool RegionTable::add(const Region& region) {
  WEFT_ASSERT(region.bytes <= kMaxRegionBytes && region.number <= kMaxRegionNumber);
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < kCapacity; ++i) {
    if (entries_[i].load(std::memory_order_relaxed) != nullptr) continue;
    entries_[i].store(&regions_.emplace_back(region), std::memory_order_release);
    if (i >= used_.load(std::memory_order_relaxed)) used_.store(i + 1, std::memory_order_release);
    return true;
  }
  return false;
}

void RegionTable::remove(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  for (auto& entry : entries_) {
    const Region* const region = entry.load(std::memory_order_relaxed);
    if (region != nullptr && region->number == number) entry.store(nullptr, std::memory_order_release);
  }
}

}  // namespace weft::transports
