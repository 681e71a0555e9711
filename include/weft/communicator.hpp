// Communicator: ranks that compute together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/choice.hpp"
#include "weft/message.hpp"
#include "weft/operation.hpp"
#include "weft/options.hpp"
#include "weft/status.hpp"
#include "weft/work.hpp"

namespace weft {

// One thread at a time may call a communicator, except abort(), which any thread may call at any time. All ranks must
// start the same operations in the same order; calls that do not match are a Mismatch on all ranks. After the first
// error every later call returns that error. Destroying a communicator finishes what is in flight (with the deadline);
// communicators split from it must have been destroyed before.
class Communicator {
 public:
  // Collective over options.size ranks: meets at the store, agrees on topology and settings, opens no connection yet
  // beyond what "same host" needs. Fails with Timeout naming the ranks that did not come, or InvalidArgument naming the
  // option. What one rank lacks (a transport that starts, a topology that can be read) is the error of all, in the same
  // words; Status::peer() is that rank.
  static Result<Communicator> create(const Options& options);

  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  int rank() const;
  int size() const;

  // The four verbs. run blocks; start returns at once and the buffers are the operation's until the Work is done;
  // prepare builds a plan for many runs; explain says what would run and why (pure, no communication).
  Status run(const Operation& operation);
  Work start(const Operation& operation);
  // All of them, in any order: short ones of a kind share a call, the others are in flight together. All ranks give the
  // same list. Starts none if one of them is wrong. Buffers of one must not overlap those of another.
  Status run(std::span<const Operation> operations);
  Result<Plan> prepare(const Operation& operation);
  Result<Choice> explain(const Operation& operation) const;

  // Replaces Options::algorithms for later calls of this communicator; what was planned is planned anew. All ranks must
  // do so between the same calls. InvalidArgument quotes the rule that is wrong, or if operations are in flight, and
  // nothing changes. For measuring; a program's rules are better set once.
  Status set_algorithms(std::string_view rules);

  // Named calls: run(<collective>(...)). Counts and in-place rules as in weft/operation.hpp.
  Status all_reduce(const void* in, void* out, std::uint64_t count, DataType dtype, ReduceOp op = ReduceOp::Sum);
  Status all_gather(const void* in, void* out, std::uint64_t count, DataType dtype);
  Status reduce_scatter(const void* in, void* out, std::uint64_t count, DataType dtype, ReduceOp op = ReduceOp::Sum);
  Status all_to_all(const void* in, void* out, std::uint64_t count, DataType dtype);
  Status broadcast(const void* in, void* out, std::uint64_t count, DataType dtype, int root = 0);
  Status reduce(const void* in, void* out, std::uint64_t count, DataType dtype, ReduceOp op = ReduceOp::Sum,
                int root = 0);
  Status gather(const void* in, void* out, std::uint64_t count, DataType dtype, int root = 0);
  Status scatter(const void* in, void* out, std::uint64_t count, DataType dtype, int root = 0);
  Status barrier();
  Status all_gather_v(const void* in, void* out, const Blocks& out_blocks, DataType dtype);
  Status reduce_scatter_v(const void* in, const Blocks& in_blocks, void* out, DataType dtype,
                          ReduceOp op = ReduceOp::Sum);
  Status all_to_all_v(const void* in, const Blocks& in_blocks, void* out, const Blocks& out_blocks, DataType dtype);
  Status gather_v(const void* in, std::uint64_t count, void* out, const Blocks& out_blocks, DataType dtype,
                  int root = 0);
  Status scatter_v(const void* in, const Blocks& in_blocks, void* out, std::uint64_t count, DataType dtype,
                   int root = 0);

  // Messages between two ranks (docs/point-to-point.md). No other rank takes part, and they are not among the calls
  // that all ranks make in the same order. A send may end before its receive has begun, but no program may rely on it.
  // What fails one message alone leaves the communicator as it was: InvalidArgument also if a message does not fit the
  // receive that matches it, which loses nothing; Timeout if message.timeout_ms has passed.
  Result<Received> run(const Message& message);
  Work start(const Message& message);
  // All of them at once, in the order given: they end in any order, so a group cannot wait for itself. Starts none if
  // one of them is wrong. Returns the first failure after all have ended. `received` may be empty, else there is one
  // for each message.
  Status run(std::span<const Message> messages, std::span<Received> received = {});

  Status send(const void* in, std::uint64_t count, DataType dtype, int peer, int tag = 0);
  Result<Received> receive(void* out, std::uint64_t count, DataType dtype, int peer = kAnySource, int tag = kAnyTag);
  // A message of any length.
  Result<Received> receive(std::vector<std::byte>* object, int peer = kAnySource, int tag = kAnyTag);

  // Objects: bytes whose number only their sender knows. One round if they are short (1,016 bytes), else two. *object
  // is read at the root and written elsewhere; *objects gets one from each rank. ResourceExhausted on all ranks if one
  // has no memory for them.
  Status send(std::span<const std::byte> object, int peer, int tag = 0);
  Status broadcast(std::vector<std::byte>* object, int root = 0);
  Status all_gather(std::span<const std::byte> object, std::vector<std::vector<std::byte>>* objects);

  // Collective over this communicator. Ranks with equal colour form a new one, ordered by key, then by rank; a negative
  // colour takes no part and gets a communicator of one rank (itself). Uses the parent's connections.
  Result<Communicator> split(int color, int key = 0);

  // Ends all that is in flight here and on the peers with Aborted. Any thread; waits for no peer.
  void abort(std::string_view reason);
  // The first error, or OK.
  Status health() const;
  // Collective, optional: checks that nothing is left over (a Mismatch otherwise) and that all ranks made the same
  // calls.
  Status close();

  // "shm", "ucx", "local" or "self": what carries the bytes to that rank.
  std::string_view transport(int peer) const;
  // topology::fingerprint() of what the ranks agreed on: which measured tables are of this topology.
  std::string topology_fingerprint() const;
  // "openmpi" etc.: where rank and size came from.
  std::string_view source() const;

 private:
  friend class Work;
  explicit Communicator(std::unique_ptr<comm::CommunicatorState> state);
  std::unique_ptr<comm::CommunicatorState> state_;
};

}  // namespace weft
