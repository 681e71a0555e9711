// Store: how ranks find each other and agree, and how they learn later who died.
//
// A key-value store at rank 0 over TCP. Set-up uses set/get; afterwards the connections stay open: a control thread on
// each rank listens on its own, sleeping in poll(), and delivers notices (a rank died, a rank reports an error, a rank
// asks a question).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/usage.hpp"
#include "weft/options.hpp"
#include "weft/status.hpp"

namespace weft::transports {

class Store {
 public:
  // Called on the store's control thread (or, for a local store, on the sender's thread). Must not block nor call the
  // store's blocking functions; send() is allowed.
  struct Listener {
    std::function<void(int rank)> died;                               // its connection ended without leave()
    std::function<void(int from, std::string_view message)> message;  // sent by send()
  };

  virtual ~Store() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // A key may be set once; setting it again is an error. Keys and values are bytes; a value is at most 64 MiB.
  virtual Status set(std::string_view key, std::string_view value) = 0;
  // Waits until the key is set. Timeout names the key and the ranks that have not connected; PeerLost, with the rank,
  // if one dies meanwhile or has died before (a key that is set is given all the same).
  virtual Result<std::string> get(std::string_view key, int timeout_ms) = 0;
  // Forgets a key (what is no longer needed must not pile up in a long job). It may be set again.
  virtual Status remove(std::string_view key) = 0;

  // To one rank (its listener's `message`), or to all others with to == -1. Never blocks for the receiver. Any thread.
  // Messages from one rank to another keep their order; those to a rank that died or left are dropped; a rank that is
  // yet to come gets them then.
  virtual Status send(int to, std::string_view message) = 0;
  // At most one; set before the first message is expected. Messages that came before are delivered now. An empty
  // Listener removes it: after return no callback is running and none will run.
  virtual void listen(Listener listener) = 0;
  // A rank that leaves is not reported dead. Idempotent; the destructor does it too unless the process is dying.
  virtual void leave() = 0;
  // What it holds in this process now. Any thread.
  virtual base::Usage usage() const { return {}; }
};

// Rank 0 listens at options.rendezvous_host:port (the first free one of port_tries), the others connect and check with
// a hello that they found rank 0 of the same job (job_id, size). Deadline: options.timeout_ms. Errors name what did not
// answer.
Result<std::unique_ptr<Store>> connect_store(const Options& options);

// `size` stores of one process, for ranks that are threads. No sockets, no thread. The hub outlives its stores.
class LocalStoreHub {
 public:
  static std::unique_ptr<LocalStoreHub> create(int size);
  virtual ~LocalStoreHub() = default;
  // One store per rank at a time; a rank that left may come again.
  virtual std::unique_ptr<Store> store(int rank) = 0;
  // As if the rank's process had been killed: the others' listeners hear it, waits end with PeerLost, its own calls
  // fail.
  virtual void die(int rank) = 0;
};

}  // namespace weft::transports
