// ShmRegions: what a process made for its peers to map: memory by number, with the descriptors that they get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/file_descriptor.hpp"
#include "transports/region_table.hpp"
#include "transports/shm_memory.hpp"
#include "weft/status.hpp"

namespace weft::transports {

// Thread-safe: peers ask on the listener's thread.
class ShmRegions final {
 public:
  // Numbers begin with kFanOutRegion. ResourceExhausted if there is no memory or there were too many.
  Result<Region> create(std::size_t bytes);
  // Those who have it mapped keep it.
  void destroy(std::uint32_t number);
  // For a peer; invalid if there is no such region.
  base::FileDescriptor descriptor(std::uint32_t number);
  int descriptors();  // that are open

 private:
  std::mutex mutex_;
  std::map<std::uint32_t, SharedMemory::Created> regions_;
  std::uint32_t next_ = kFanOutRegion;
};

}  // namespace weft::transports
