// Transport, Endpoint: how bytes move between two processes. Knows nothing of collectives, chunks or steps.
//
// A Transport makes Connections, one per pair of processes. A Connection is cut into *lanes*: ordered two-way byte
// paths, each with its own credit. A lane's two ends are Endpoints. A communicator uses one lane per (peer, channel).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/usage.hpp"
#include "weft/status.hpp"

namespace weft::transports {

class FanOut;

// Travels with every message, in its cache line (shm) or folded into the tag (ucx). The receiver states what it
// expects; a message with another signature is never delivered.
struct Signature {
  std::uint32_t sequence = 0;  // of the operation in its communicator
  std::uint32_t call = 0;      // collective, dtype, op packed
  std::uint64_t hash = 0;      // count, root, plan

  bool operator==(const Signature&) const = default;
};

// What long messages are part of: they go one way only, to be copied; this rank sends and receives such; or they are
// reduced, by their receivers or some of them.
enum class Traffic : std::uint8_t { OneWay, BothWays, Reduced };

// What a lane found at its front when it was not what the receiver expects.
struct Unexpected {
  Signature signature;  // as far as the transport carries it; zeros if it does not
  std::uint64_t bytes = 0;
};

// A place for a message in memory that the receiver reads.
struct Stage {
  void* place = nullptr;   // null: there is none, or no room now
  bool streaming = false;  // it is best written past the caches
};

// One end of a lane. One thread at a time. Nothing here blocks, allocates (but for ucx's requests) or, but for
// long messages now and then (Filler), reads the clock.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  // Posts a message. False: no room now, nothing was taken; call again later. After true, [data, data + bytes) must
  // stay unchanged until sends_done() counts this message. bytes <= max_message(); 0 is a message like any other.
  virtual bool send(const void* data, std::size_t bytes, const Signature& signature) = 0;

  // Where the next message's bytes may be written, to spare a copy: a send() of as many bytes from there takes them as
  // they lie. Until the next send(). Otherwise they would be sent from `source`.
  virtual Stage stage(std::size_t /*bytes*/, const void* /*source*/) { return {}; }

  // Set-up path. Slots for what goes to several peers, shared by the endpoints of this lane's number to them: a send()
  // from one of them copies nothing, and does not read it any more once it is posted. They are few, so that only who
  // uses them asks. Null: there are none now; else always the same.
  virtual FanOut* fan_out() { return nullptr; }
  // What is sent from now on: a hint for how it is best brought. OneWay until it is said.
  virtual void set_traffic(Traffic /*traffic*/) {}
  // Whether a send() from there copies nothing, because the receiver can read it.
  virtual bool refers(const void* /*data*/, std::size_t /*bytes*/) { return false; }

  // The next message if it is here, else null. The pointer is to the bytes where they already are (a shared-memory
  // slot), or is `landing`, into which the transport was free to write from the first call on; it is valid until
  // release(). Between the first call for a message and its delivery, every call must pass the same bytes and landing.
  // landing may be null only if bytes is 0. Null for ever if the front message does not fit (see unexpected()) or the
  // lane failed (see failure()).
  virtual const void* receive(std::size_t bytes, void* landing, const Signature& expected) = 0;

  // Gives back what receive() lent. Exactly once per delivered message, before the next receive().
  virtual void release() = 0;

  // How many of the messages posted on this end no longer read their source: the completed prefix, since the lane was
  // opened.
  virtual std::uint64_t sends_done() = 0;

  // Cold path. True, and what it is, if the message at the front is not the expected one.
  virtual bool unexpected(Unexpected* what) = 0;
  // Cold path. The front message's signature without taking it, whether or not a receive is outstanding: finds
  // leftovers.
  virtual bool peek(Unexpected* what) = 0;
  // Cold path. Not OK once the connection broke; PeerLost where the transport can tell.
  virtual Status failure() = 0;

  // Cold path, bounded by `deadline_ms`. After it returns the transport neither reads nor writes any buffer it was
  // given: pending receives are cancelled, sends cancelled or completed. The lane is unusable afterwards.
  virtual void cancel(int deadline_ms) = 0;

  // Cold path. Set aside for what is sent on this end: the most memory that it can come to take.
  virtual std::uint64_t memory_bytes() const { return 0; }
};

// Memory of one rank that peers may map, for messages that are not copied.
struct Region {
  std::uint32_t number = 0;  // of its owner; never used again
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

// All lanes to one peer process. `lane` is agreed by both sides (communicator id and channel); `self_id` and `peer_id`
// are the two ranks in the root communicator.
class Connection {
 public:
  virtual ~Connection() = default;
  // Opens the lane's end. Both sides open the same lane number; neither waits for the other.
  virtual Result<std::unique_ptr<Endpoint>> open_lane(std::uint64_t lane) = 0;

  // Set-up path. Maps what the peer allocated under that number, so that it may send from it without a copy. Not OK
  // where that cannot be; then it must not share() it with this rank.
  virtual Status map(std::uint32_t /*region*/, int /*deadline_ms*/) {
    return {Code::Unsupported, "this transport maps no memory of peers"};
  }
  virtual void unmap(std::uint32_t /*region*/) {}
  // The peer has mapped the region of this rank. ResourceExhausted if there are too many.
  virtual Status share(const Region& /*region*/) {
    return {Code::Unsupported, "this transport maps no memory of peers"};
  }
  virtual void unshare(std::uint32_t /*region*/) {}
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual std::string_view name() const = 0;    // "shm", "ucx", "local", "sim"
  virtual std::size_t max_message() const = 0;  // longest message of its lanes
  virtual bool crosses_hosts() const = 0;       // whether ranks of different hosts can be joined at all
  // What a peer needs to connect to this process; goes through the store. May hold any bytes.
  virtual std::string address() const = 0;
  // Whether the peer with this address can be reached this way. Pure but for really trying (shm maps a segment). Both
  // sides must answer alike, so an answer may be confirmed by the other side through the store.
  virtual bool reaches(std::string_view peer_address) = 0;
  // Lane traffic to that peer. Does not wait for the peer's process; the deadline bounds what it must wait for.
  virtual Result<std::unique_ptr<Connection>> connect(int self_rank, int peer_rank, std::string_view peer_address,
                                                      int deadline_ms) = 0;
  // Memory that peers can map, zeroed, on pages of its own. Unsupported where the transport has none.
  virtual Result<Region> allocate(std::size_t /*bytes*/) {
    return Status(Code::Unsupported, "this transport has no memory that peers can map");
  }
  // Of nothing that is in use; peers that have it mapped keep it.
  virtual void free(std::uint32_t /*region*/) {}

  // Any thread; does not wait. What comes from now on for lanes whose numbers differ from `lane` in the lowest `bits`
  // bits only is thrown away, lest it stay here, and its sender wait for its receive. They are not opened again.
  virtual void retire(std::uint64_t /*lane*/, int /*bits*/) {}

  // Moves the transport along (ucx); called by the engine about once per advance. Cheap or empty.
  virtual void poll() = 0;
  // True if poll() does nothing, so need not be called.
  virtual bool passive() const { return false; }
  // What it holds in this process now, with its connections. Any thread.
  virtual base::Usage usage() { return {}; }
};

}  // namespace weft::transports
