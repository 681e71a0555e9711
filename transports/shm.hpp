// shm: processes of one host, through memory that both map.
//
// One sealed memfd per pair of ranks, made by the lower one and fetched by the other over an abstract Unix socket on
// which every transport listens. "Same host" means: equal boot id, equal host_id, and a page of the peer that was
// really mapped.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "transports/slot_ring.hpp"
#include "transports/transport.hpp"

namespace weft::transports {

struct ShmOptions {
  std::string host_id = {};  // ranks with different host_ids never join
  std::size_t slot_bytes = kDefaultSlotBytes;
  int reach_deadline_ms = 2'000;  // for reaches() to try a mapping
  bool single_copy = true;        // long messages may be read from the sender's memory, where the system allows it
  std::function<void(const std::string& text)> note = {};  // told why a peer's memory cannot be read
  int linger_ms = 10'000;  // how long the end of a transport waits for peers to fetch what was sent to them
};

// Starts the listening thread; it ends with the transport.
Result<std::unique_ptr<Transport>> make_shm_transport(const ShmOptions& options);

}  // namespace weft::transports
