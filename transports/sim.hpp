// sim: ranks as threads of one process, with an adversary between them. For tests of whoever uses transports: what the
// contract allows but the other transports seldom do happens here often.
//
//   - A message is late: receive() finds it only after some calls.
//   - The source is read when the receiver takes the message, and counted as done some calls of sends_done() later
//   still. Whoever
//     overwrites it earlier corrupts the data (and a thread sanitizer sees the race).
//   - Room for few messages: send() is refused until the receiver took the one before.
//   - Landings are filled with garbage from the first call on, and the bytes are lent from there or from elsewhere;
//   what is lent from
//     elsewhere becomes garbage on release().
//   - A rank dies at a chosen message.
//
// Every message's fate is a pure function of the seed, the two ranks, the lane and its number on the lane: equal runs
// of threads that poll alike are equal. How threads interleave is not decided here.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "transports/transport.hpp"

namespace weft::transports {

struct SimOptions {
  std::uint64_t seed = 0;
  int max_delay = 8;     // calls of receive() before a message is found, at most
  int max_lateness = 8;  // calls of sends_done() before a taken message counts, at most
  int room = 1;          // messages of a lane that are sent and not taken
  std::size_t max_message = 64 * 1024;
  // This rank dies when it sends this message, counted from 0 over all its lanes; the message is lost.
  int dying_rank = -1;
  std::uint64_t dies_at_message = std::numeric_limits<std::uint64_t>::max();
};

// Made by whoever starts the ranks' threads; hands out one Transport per rank and outlives them. Thread-safe.
class SimHub {
 public:
  static std::unique_ptr<SimHub> create(const SimOptions& options);
  virtual ~SimHub() = default;
  virtual std::unique_ptr<Transport> transport(int rank) = 0;
  // The rank dies now, as if its process had been killed: its calls have no effect any more.
  virtual void kill(int rank) = 0;
};

}  // namespace weft::transports
