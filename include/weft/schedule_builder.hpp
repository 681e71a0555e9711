// ScheduleBuilder: the language in which an algorithm is written, once, in the global view: chunks move between ranks.
//
// Sends, receives, scratch, in-place handling, waits and channels are derived. Moves are in program order: a move reads
// what earlier moves left at its source. An algorithm's build() must make the same moves on every rank and for every
// aliasing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/group.hpp"
#include "weft/schedule.hpp"
#include "weft/types.hpp"

namespace weft {

// Logical chunks that travel together as one message, in this order. A run of consecutive chunks costs no allocation.
class Chunks {
 public:
  Chunks(int chunk) : first_(chunk), count_(1) {}  // NOLINT: a single chunk reads as a number
  Chunks(std::vector<int> ids) : count_(static_cast<int>(ids.size())), ids_(std::move(ids)) {}  // NOLINT
  static Chunks range(int first, int count) { return Chunks(first, count); }

  int size() const { return count_; }
  int operator[](int i) const { return ids_.empty() ? first_ + i : ids_[static_cast<std::size_t>(i)]; }

 private:
  Chunks(int first, int count) : first_(first), count_(count) {}
  int first_ = 0;
  int count_ = 0;
  std::vector<int> ids_;  // empty: the run first_ .. first_ + count_ - 1
};

// A rank order with indices that wrap: ring[-1] is the last rank.
class RingOrder {
 public:
  explicit RingOrder(std::vector<int> order);
  int operator[](int position) const { return order_[static_cast<std::size_t>(wrap(position))]; }
  int size() const { return static_cast<int>(order_.size()); }
  int position(int rank) const { return position_[static_cast<std::size_t>(rank)]; }

 private:
  int wrap(int position) const {
    const int size = static_cast<int>(order_.size());
    return ((position % size) + size) % size;
  }
  std::vector<int> order_;
  std::vector<int> position_;
};

class ScheduleBuilder {
 public:
  // What is being built. Chunk numbers are logical (see Layout), 0 .. chunks()-1 of this replica.
  int size() const;
  int root() const;
  int chunks_per_block() const;
  const Group& group() const;
  // Orders of the current channel (that of the ranks if built canonical): a replicated algorithm gets another ring or
  // tree pair in each replica where the topology has several.
  RingOrder ring_order() const;
  const Tree& tree(int which) const;  // which: 0 or 1 of the double tree

  // The moves that follow belong to channel `channel` (0 .. native channels - 1). A chunk belongs to one channel.
  void channel(int channel);

  // `into`'s value of the chunks becomes (into's value) op (from's value). from's value stays.
  void reduce(const Chunks& chunks, int from, int into);
  // `to`'s value of the chunks becomes from's.
  void copy(const Chunks& chunks, int from, int to);
  // Both reduce the other's value, both read before either writes: a symmetric round. Operands in rank order of {a, b}.
  void exchange(const Chunks& chunks, int a, int b);
  // All of `ranks` send their value to all others, and each folds all values in the order of `ranks` (built canonical,
  // in that of Numerics::Invariant over their positions): one round, the same tree everywhere.
  void reduce_all(const Chunks& chunks, std::span<const int> ranks);
  // The same for one of them: `into`, which is among `ranks`, folds all values in their order, wherever it stands in
  // it.
  void reduce_in_order(const Chunks& chunks, std::span<const int> ranks, int into);
  // Every rank's value becomes (its own) op (that of the rank `distance` below it, cyclically); all read before any
  // writes.
  void reduce_shift(const Chunks& chunks, int distance);

 private:
  friend class ScheduleAssembler;  // algorithms/builder.cpp: collects moves, lowers them
  struct State;
  explicit ScheduleBuilder(State& state) : state_(state) {}
  State& state_;
};

// The call an algorithm is asked about: agreed data only, equal on all ranks.
struct Request {
  Collective collective = Collective::Barrier;
  DataType dtype = DataType::Float32;
  ReduceOp op = ReduceOp::Sum;
  int root = 0;
  std::uint64_t count = 0;  // elements, as in Operation; if uneven, its agreed_count()
  bool uneven = false;  // a v-variant: of all_to_all, gather and scatter a rank knows the counts of its own blocks only
  Numerics numerics = Numerics::Fast;
};

// One algorithm: a constant in the file algorithms/<collective>/<name>.cpp.
struct Algorithm {
  std::string_view name;  // "ring"
  Collective collective;
  std::string_view summary;  // one line for listings: steps, bytes, when it is good
  int native_channels;       // channels its build() names itself (double_tree: 2)
  bool replicable;           // may be replicated over further channels
  int (*chunks_per_block)(int size);
  // Empty when it can serve the request, else the reason why not ("needs a power-of-two number of ranks"). Pure.
  std::string_view (*unsupported)(const Group& group, const Request& request);
  void (*build)(ScheduleBuilder& builder);
  // Built canonical, it reduces in the order of Numerics::Invariant, whatever the number of ranks. verify() proves it.
  bool invariant = false;
};

// All algorithms, sorted by collective, then name. The table is generated from the files that exist.
std::span<const Algorithm* const> all_algorithms();
// By collective and name; null if there is none.
const Algorithm* find_algorithm(Collective collective, std::string_view name);

struct BuildOptions {
  int root = 0;
  int replicas = 1;         // channels of the result = native_channels * replicas
  bool in_place = false;    // of every rank (all ranks or rank `only_rank`)
  bool uneven = false;      // for a v-variant: scratch is not shared by chunks of different blocks
  bool canonical = false;   // rings in the order of the ranks, folds in that of Numerics::Invariant
  int only_rank = -1;       // project: emit steps for this rank only; -1: for all
  bool hoist_sends = true;  // passes, off only to study them
  bool fuse = true;
};

// Builds and lowers. The group's size must be what `algorithm.unsupported` accepted.
Schedule build_schedule(const Algorithm& algorithm, const Group& group, const BuildOptions& options = {});

}  // namespace weft
