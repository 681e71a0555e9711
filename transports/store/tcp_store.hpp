// The two halves of connect_store over TCP, for those who want to know the port: tests, and programs that tell it to
// the other ranks by a way of their own.
#pragma once

#include <memory>

#include "transports/store/store.hpp"

namespace weft::transports {

// How long the only possible port may be held by somebody else: longer than a job that is ending keeps it.
inline constexpr int kPortPatienceMs = 6000;

struct ListeningStore {
  std::unique_ptr<Store> store;
  int port = 0;
};

// Rank 0's. rendezvous_port 0 takes any free port. Where all ports are taken it tries again for kPortPatienceMs. Does
// not wait for the other ranks.
//
// Listens on the addresses of options.interface, or on loopback only if rendezvous_host is a loopback address by number
// or "localhost", else on all addresses.
Result<ListeningStore> listen_store(const Options& options);

// The other ranks'. Looks for rank 0 at every host of rendezvous_host (a comma-separated list) and every port until
// options.timeout_ms has passed.
Result<std::unique_ptr<Store>> join_store(const Options& options);

}  // namespace weft::transports
