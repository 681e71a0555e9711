// One sealed memfd for each region.
#include "transports/shm_regions.hpp"

#include <fcntl.h>

#include <fmt/format.h>

namespace weft::transports {

Result<Region> ShmRegions::create(std::size_t bytes) {
  if (bytes == 0 || bytes > kMaxRegionBytes) {
    return Status(Code::InvalidArgument,
                  fmt::format("cannot share {} bytes: 1 to {} at a time", bytes, kMaxRegionBytes));
  }
  const std::lock_guard lock(mutex_);
  if (next_ > kMaxRegionNumber) {
    return Status(Code::ResourceExhausted,
                  fmt::format("memory was shared {} times; keep what is allocated and use it again", kMaxRegionNumber));
  }
  WEFT_TRY_ASSIGN(SharedMemory::Created created, SharedMemory::create(bytes));
  const Region region{next_, created.memory.data(), bytes};
  regions_.emplace(next_++, std::move(created));
  return region;
}

void ShmRegions::destroy(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  regions_.erase(number);
}

int ShmRegions::descriptors() {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(regions_.size());
}

base::FileDescriptor ShmRegions::descriptor(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = regions_.find(number);
  if (found == regions_.end()) return {};
  return base::FileDescriptor(::fcntl(found->second.descriptor.get(), F_DUPFD_CLOEXEC, 0));
}

}  // namespace weft::transports
