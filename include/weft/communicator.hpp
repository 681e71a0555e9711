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
#include "weft/cost.hpp"
#include "weft/memory.hpp"
#include "weft/message.hpp"
#include "weft/operation.hpp"
#include "weft/operator.hpp"
#include "weft/options.hpp"
#include "weft/status.hpp"
#include "weft/work.hpp"

namespace weft {

// Threads: one at a time may call a communicator, but for abort() and health(), which any thread may call at any time.
// A call that comes while another thread waits in one is InvalidArgument, and changes nothing. Operations in flight
// move while the thread that started them waits for anything of Weft's: it counts as calling until they are done.
// Different communicators may be called by different threads, also if one was split from the other; but making,
// splitting and destroying communicators that were split from each other is for one thread at a time. A split that
// comes while another thread of the process is in one is InvalidArgument, before anything is sent.
//
// Ranks: all must start the same operations in the same order; calls that do not match are a Mismatch on all ranks.
// After the first error every later call that starts, prepares or splits anything returns that error, whatever its
// arguments. Destroying a communicator finishes what is in flight (with the deadline); communicators split from it go
// on, and what all of them share ends with the last.
//
// fork(): a communicator belongs to the process that made it, which goes on as if nothing had happened. In the child
// every call is InvalidArgument, a Work counts as done with that outcome, and destroying communicator, Work, Plan or
// SymmetricMemory touches nothing that the parent uses. Buffers of operations in flight must not be what the child
// needs: it has copies of them as they were at the fork, and shares symmetric memory with the parent.
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
  // The same with another deadline than Options::timeout_ms for this call, in milliseconds. As every Timeout it ends
  // the communicator; to go on after a while, start() the operation and use Work::wait_for().
  Status run(const Operation& operation, int timeout_ms);
  Work start(const Operation& operation);
  // All of them, in any order: short ones of a kind share a call, the others are in flight together. All ranks give the
  // same list (else Mismatch). Starts none if one of them is wrong. Buffers of one must not overlap those of another.
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

  // Collective over this communicator: memory that the other ranks of a host read directly, for buffers that are used
  // again and again. All ranks ask for as many bytes (else Mismatch). ResourceExhausted, on all ranks, names the one
  // that has no memory; ranks that cannot read each other's memory are no error (SymmetricMemory::reason). Free is
  // collective, too, of the same memory on all ranks, which must not be in use.
  Result<SymmetricMemory> allocate(std::size_t bytes);
  Status free(SymmetricMemory memory);

  // Operators of the program's own, for the reducing collectives of this communicator; at most 64 at a time. Local, but
  // a call needs one on every rank: of the same name, type and promises, whatever the handle. InvalidArgument says what
  // is wrong. It is destroyed with the communicator, or before; InvalidArgument while operations with it are in flight.
  // Calls and plans with a destroyed one are InvalidArgument; its handle is given again after 127 others, not before.
  Result<ReduceOp> create_operator(const Operator& definition);
  // The sum of the inputs, each multiplied by the `factor` that its rank gave: as NCCL's. Products are rounded to the
  // type; integers take whole numbers that they can hold. Costs one more pass over the input, and in reduce and
  // reduce_scatter memory for as much.
  Result<ReduceOp> create_pre_mul_sum(DataType dtype, double factor);
  Status destroy_operator(ReduceOp op);

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
  // A message of any length; `timeout_ms` as Message::timeout_ms.
  Result<Received> receive(std::vector<std::byte>* object, int peer = kAnySource, int tag = kAnyTag,
                           int timeout_ms = kUntilDeadline);

  // Objects: bytes whose number only their sender knows. One round if they are short (1,016 bytes), else two. *object
  // is read at the root and written elsewhere; *objects gets one from each rank. ResourceExhausted on all ranks if one
  // has no memory for them.
  Status send(std::span<const std::byte> object, int peer, int tag = 0);
  Status broadcast(std::vector<std::byte>* object, int root = 0);
  Status all_gather(std::span<const std::byte> object, std::vector<std::vector<std::byte>>* objects);

  // Collective over this communicator. Ranks with equal colour form a new one, ordered by key, then by rank; a negative
  // colour takes no part and gets a communicator of one rank (itself). Uses the parent's connections.
  Result<Communicator> split(int color, int key = 0);
  // The same for ranks that know each other already, and called by them only: `members` are ranks of this communicator,
  // this one among them, and get their new ranks in this order. All give the same list, and make such calls in the same
  // order; else Mismatch or, where a member does not come, Timeout, which end this communicator as other errors do.
  // Costs two messages for each member but one, over the connections that ranks met by, and nothing else until the new
  // communicator is used.
  Result<Communicator> split_members(const std::vector<int>& members);

  // What this communicator takes of memory, descriptors and threads, and what all that were split from the same one
  // share. No communication; not for hot paths.
  Cost cost() const;

  // Ends all that is in flight here and on the peers with Aborted. Any thread; waits for no peer.
  void abort(std::string_view reason);
  // The first error, or OK.
  Status health() const;
  // Collective, optional: checks that nothing is left over (a Mismatch otherwise) and that all ranks made the same
  // calls.
  Status close();

  // For a loop of the program's own (poll, epoll): readable when operations of this communicator have ended since it
  // was last read, by success or by an error, also if a blocking call ended them or start() refused them. Then read its
  // 8 bytes (an eventfd), test() the Works, and poll again. One for each communicator, which keeps and closes it; the
  // same at every call. Unsupported without Options::progress_thread: the helper drives operations and finds out what
  // is wrong with late ones. It costs one descriptor, and a system call for each operation that ends.
  Result<int> event_descriptor();

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
