// SimLane: the two directions of a lane between two simulated ranks, under one lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "transports/sim.hpp"
#include "transports/transport.hpp"

namespace weft::transports {

// A rank of a SimHub.
struct SimRank {
  std::atomic<bool> dead = false;
  std::atomic<std::uint64_t> messages = 0;  // that it sent
};

struct SimMessage {
  const void* source = nullptr;
  std::size_t bytes = 0;
  Signature signature;
  int delay = 0;     // calls of receive() until it is found
  int lateness = 0;  // calls of sends_done() after it was taken until it counts
  bool lend_own = false;
  bool taken = false;
};

struct SimDirection {
  std::deque<SimMessage> messages;  // sent and not yet counted as done; taken ones come first
  std::size_t taken = 0;            // how many of them
  std::uint64_t done = 0;
  std::uint64_t posted = 0;
};

struct SimLane {
  explicit SimLane(std::uint64_t id) : id(id) {}

  std::uint64_t id;
  std::mutex mutex;
  std::array<SimDirection, 2> directions;  // by the sending side; side 0 is the lower rank
  std::array<bool, 2> opened{};            // of the hub's lock
  std::array<bool, 2> closed{};
};

class SimLanes {
 public:
  virtual ~SimLanes() = default;
  // The n-th opening of a lane on one side meets the n-th on the other.
  virtual SimLane& open(int self_rank, int peer_rank, std::uint64_t id) = 0;
  virtual void close(SimLane& lane, int self_rank, int peer_rank) = 0;
};

class SimEndpoint final : public Endpoint {
 public:
  struct Place {
    int self_rank;
    int peer_rank;
    SimRank& self;
    SimRank& peer;
    int side() const { return self_rank < peer_rank ? 0 : 1; }
  };
  SimEndpoint(const SimOptions& options, SimLanes& lanes, const Place& place, std::uint64_t lane)
      : options_(options), lanes_(lanes), lane_(lanes.open(place.self_rank, place.peer_rank, lane)), place_(place) {}
  SimEndpoint(const SimEndpoint&) = delete;
  SimEndpoint& operator=(const SimEndpoint&) = delete;
  ~SimEndpoint() override;

  bool send(const void* data, std::size_t bytes, const Signature& signature) override;
  const void* receive(std::size_t bytes, void* landing, const Signature& expected) override;
  void release() override;
  std::uint64_t sends_done() override;
  bool unexpected(Unexpected* what) override;
  bool peek(Unexpected* what) override;
  Status failure() override;
  void cancel(int deadline_ms) override;

 private:
  SimDirection& sent() { return lane_.directions[static_cast<std::size_t>(place_.side())]; }
  SimDirection& arriving() { return lane_.directions[static_cast<std::size_t>(1 - place_.side())]; }
  SimMessage* front();
  SimMessage fate(std::uint64_t number) const;
  const void* take(SimMessage& message, void* landing);
  void forget_sends();
  bool usable() const { return !cancelled_ && !place_.self.dead.load(); }

  const SimOptions& options_;
  SimLanes& lanes_;
  SimLane& lane_;
  Place place_;
  bool cancelled_ = false;
  bool waiting_ = false;  // for the message that receive() was asked for
  bool refused_ = false;
  bool lent_ = false;
  std::vector<std::byte> own_;  // what lend_own lends
};

}  // namespace weft::transports
