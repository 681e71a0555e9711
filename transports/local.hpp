// local: ranks that are threads of one process. The lanes are those of shm, over anonymous memory.
#pragma once

#include <memory>

#include "transports/slot_ring.hpp"
#include "transports/transport.hpp"

namespace weft::transports {

// Made by whoever starts the ranks' threads; hands out one Transport per rank and outlives them. Thread-safe.
class LocalHub {
 public:
  static std::unique_ptr<LocalHub> create(std::size_t slot_bytes = kDefaultSlotBytes);
  virtual ~LocalHub() = default;
  // A rank whose transports are all destroyed is lost to its peers.
  virtual std::unique_ptr<Transport> transport(int rank) = 0;
};

}  // namespace weft::transports
