// ScheduleBuilder: records an algorithm's moves as events per rank, counts contributions to know the final reductions,
// and hashes the whole program. Places and waits come later (lower.hpp and the passes).
#include "weft/schedule_builder.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "algorithms/assemble.hpp"
#include "algorithms/program.hpp"
#include "algorithms/rules.hpp"
#include "base/assert.hpp"
#include "base/fnv1a.hpp"

namespace weft {

namespace {

// Over 32-bit words.
class Hash {
 public:
  void add(std::int64_t word) { words_.add(static_cast<std::uint32_t>(word)); }
  void add(std::string_view text) {
    for (const char c : text) add(static_cast<unsigned char>(c));
    add(static_cast<std::int64_t>(text.size()));
  }
  std::uint64_t value() const { return words_.value(); }

 private:
  base::Fnv1a words_;
};

enum class Move : std::uint8_t { Reduce, Copy, ReduceAll, ReduceInOrder, ReduceShift };

}  // namespace

using algorithms::Event;
using algorithms::EventKind;
using algorithms::Program;

struct ScheduleBuilder::State {
  const Algorithm& algorithm;
  const Group& group;
  int only_rank;
  int own_chunks;  // per block, of one replica
  int replica = 0;
  int channel = 0;  // of the result
  int moves = 0;
  Program program;
  Hash hash;
  std::vector<std::int32_t> contributions;  // by rank * chunks + chunk; only where the collective reduces

  bool wanted(int rank) const { return only_rank < 0 || rank == only_rank; }
  bool any_wanted(std::span<const std::int32_t> ranks) const {
    return std::any_of(ranks.begin(), ranks.end(), [&](int rank) { return wanted(rank); });
  }
  int logical(int chunk) const {
    const int total = program.layout.chunks_per_block;
    return chunk / own_chunks * total + replica * own_chunks + chunk % own_chunks;
  }
  std::int32_t& contribution(int rank, int chunk) {
    return contributions[static_cast<std::size_t>(rank) * static_cast<std::size_t>(program.layout.chunks()) +
                         static_cast<std::size_t>(chunk)];
  }

  // Hashes the move and returns an event that holds all but kind and peer.
  Event begin(Move move, const Chunks& chunks, int a, int b) {
    WEFT_ASSERT(chunks.size() > 0);
    hash.add(static_cast<std::int64_t>(move));
    hash.add(channel);
    hash.add(a);
    hash.add(b);
    hash.add(chunks.size());
    for (int i = 0; i < chunks.size(); ++i) hash.add(chunks[i]);
    Event event;
    event.channel = channel;
    event.move = moves++;
    event.chunks_count = chunks.size();
    return event;
  }

  void keep(Event& event, const Chunks& chunks, std::span<const std::int32_t> ranks) {
    event.chunks_begin = static_cast<std::int32_t>(program.numbers.size());
    for (int i = 0; i < chunks.size(); ++i) program.numbers.push_back(logical(chunks[i]));
    keep_ranks(event, ranks);
  }
  void keep_ranks(Event& event, std::span<const std::int32_t> ranks) {
    event.ranks_begin = static_cast<std::int32_t>(program.numbers.size());
    event.ranks_count = static_cast<std::int32_t>(ranks.size());
    program.numbers.insert(program.numbers.end(), ranks.begin(), ranks.end());
  }

  void record(Event event, EventKind kind, int rank, int peer) {
    if (!wanted(rank)) return;
    event.kind = kind;
    event.peer = peer;
    program.events[static_cast<std::size_t>(rank)].push_back(event);
  }

  // Adds up what the fold over `ranks` holds afterwards at each of `into`; true if that is every rank's contribution.
  bool fold(const Chunks& chunks, std::span<const std::int32_t> ranks, std::span<const std::int32_t> into) {
    if (contributions.empty()) return false;
    int complete = 0;
    for (int i = 0; i < chunks.size(); ++i) {
      const int chunk = logical(chunks[i]);
      std::int32_t sum = 0;
      for (const int rank : ranks) sum += contribution(rank, chunk);
      for (const int rank : into) contribution(rank, chunk) = sum;
      if (sum == program.layout.size) ++complete;
    }
    WEFT_ASSERT(complete == 0 || complete == chunks.size());
    return complete > 0;
  }
};

int ScheduleBuilder::size() const { return state_.group.size; }
int ScheduleBuilder::root() const { return state_.program.layout.root; }
int ScheduleBuilder::chunks_per_block() const { return state_.own_chunks; }
const Group& ScheduleBuilder::group() const { return state_.group; }

RingOrder ScheduleBuilder::ring_order() const {
  if (state_.program.canonical) return RingOrder(algorithms::all_ranks(size()));
  const auto& rings = state_.group.rings;
  return RingOrder(rings[static_cast<std::size_t>(state_.replica) % rings.size()]);
}

const Tree& ScheduleBuilder::tree(int which) const {
  const auto& trees = state_.group.trees;
  const std::size_t pairs = trees.size() / 2;
  return trees[static_cast<std::size_t>(state_.replica) % pairs * 2 + static_cast<std::size_t>(which)];
}

void ScheduleBuilder::channel(int channel) {
  WEFT_ASSERT(channel >= 0 && channel < state_.algorithm.native_channels);
  state_.channel = state_.replica * state_.algorithm.native_channels + channel;
}

void ScheduleBuilder::reduce(const Chunks& chunks, int from, int into) {
  WEFT_ASSERT(from != into);
  Event event = state_.begin(Move::Reduce, chunks, from, into);
  const std::array<std::int32_t, 2> ranks = {into, from};
  event.final_reduction = state_.fold(chunks, ranks, std::span(ranks).first(1));
  if (!state_.wanted(from) && !state_.wanted(into)) return;
  state_.keep(event, chunks, ranks);
  state_.record(event, EventKind::Send, from, into);
  state_.record(event, EventKind::Fold, into, from);
}

void ScheduleBuilder::copy(const Chunks& chunks, int from, int to) {
  WEFT_ASSERT(from != to);
  Event event = state_.begin(Move::Copy, chunks, from, to);
  if (!state_.contributions.empty()) {
    for (int i = 0; i < chunks.size(); ++i) {
      const int chunk = state_.logical(chunks[i]);
      state_.contribution(to, chunk) = state_.contribution(from, chunk);
    }
  }
  if (!state_.wanted(from) && !state_.wanted(to)) return;
  state_.keep(event, chunks, {});
  state_.record(event, EventKind::Send, from, to);
  state_.record(event, EventKind::Recv, to, from);
}

void ScheduleBuilder::exchange(const Chunks& chunks, int a, int b) {
  const std::array<int, 2> ranks = {std::min(a, b), std::max(a, b)};
  reduce_all(chunks, ranks);
}

void ScheduleBuilder::reduce_all(const Chunks& chunks, std::span<const int> ranks) {
  Event event = state_.begin(Move::ReduceAll, chunks, static_cast<int>(ranks.size()), -1);
  for (const int rank : ranks) state_.hash.add(rank);
  event.final_reduction = state_.fold(chunks, ranks, ranks);
  if (ranks.size() < 2 || !state_.any_wanted(ranks)) return;
  state_.keep(event, chunks, ranks);
  // Each begins with its right-hand neighbour, so that not all write to the first rank at once.
  const std::size_t n = ranks.size();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 1; k < n; ++k) state_.record(event, EventKind::Send, ranks[i], ranks[(i + k) % n]);
  for (const int rank : ranks) state_.record(event, EventKind::Fold, rank, -1);
}

void ScheduleBuilder::reduce_in_order(const Chunks& chunks, std::span<const int> ranks, int into) {
  Event event = state_.begin(Move::ReduceInOrder, chunks, static_cast<int>(ranks.size()), into);
  for (const int rank : ranks) state_.hash.add(rank);
  event.final_reduction = state_.fold(chunks, ranks, std::span(&into, 1));
  if (ranks.size() < 2 || !state_.any_wanted(ranks)) return;
  state_.keep(event, chunks, ranks);
  for (const int rank : ranks)
    if (rank != into) state_.record(event, EventKind::Send, rank, into);
  state_.record(event, EventKind::Fold, into, -1);
}

void ScheduleBuilder::reduce_shift(const Chunks& chunks, int distance) {
  const int size = this->size();
  WEFT_ASSERT(distance > 0 && distance < size);
  WEFT_ASSERT(state_.contributions.empty() && "contributions of a shift are counted only when someone needs it");
  Event event = state_.begin(Move::ReduceShift, chunks, distance, -1);
  state_.keep(event, chunks, {});
  for (int rank = 0; rank < size; ++rank) state_.record(event, EventKind::Send, rank, (rank + distance) % size);
  for (int rank = 0; rank < size; ++rank) {
    const int from = (rank - distance + size) % size;
    const std::array<std::int32_t, 2> ranks = {rank, from};
    if (state_.wanted(rank)) state_.keep_ranks(event, ranks);
    state_.record(event, EventKind::Fold, rank, from);
  }
}

RingOrder::RingOrder(std::vector<int> order) : order_(std::move(order)), position_(order_.size()) {
  for (std::size_t i = 0; i < order_.size(); ++i) position_[static_cast<std::size_t>(order_[i])] = static_cast<int>(i);
}

// Runs build() once per replica.
class ScheduleAssembler {
 public:
  static Program record(const Algorithm& algorithm, const Group& group, const BuildOptions& options) {
    const int own = algorithm.chunks_per_block(group.size);
    ScheduleBuilder::State state{algorithm, group, options.only_rank, own, 0, 0, 0, {}, {}, {}};
    Program& program = state.program;
    program.layout = {algorithm.collective, group.size, options.root, own * options.replicas};
    program.native_channels = algorithm.native_channels;
    program.replicas = options.replicas;
    program.canonical = options.canonical;
    program.channels = algorithm.native_channels * options.replicas;
    program.events.resize(static_cast<std::size_t>(group.size));
    if (reduces(algorithm.collective)) {
      state.contributions.assign(
          static_cast<std::size_t>(group.size) * static_cast<std::size_t>(program.layout.chunks()), 1);
    }
    state.hash.add(static_cast<std::int64_t>(algorithm.collective));
    state.hash.add(algorithm.name);
    state.hash.add(group.size);
    state.hash.add(options.root);
    state.hash.add(program.channels);
    state.hash.add(program.canonical ? 1 : 0);
    state.hash.add(program.layout.chunks_per_block);
    ScheduleBuilder builder(state);
    for (state.replica = 0; state.replica < options.replicas; ++state.replica) {
      state.channel = state.replica * algorithm.native_channels;
      algorithm.build(builder);
    }
    program.hash = state.hash.value();
    return std::move(state.program);
  }
};

Schedule build_schedule(const Algorithm& algorithm, const Group& group, const BuildOptions& options) {
  WEFT_ASSERT(options.replicas == 1 || (options.replicas > 1 && algorithm.replicable));
  const Program program = ScheduleAssembler::record(algorithm, group, options);
  Schedule schedule;
  schedule.algorithm = std::string(algorithm.name);
  schedule.collective = algorithm.collective;
  schedule.size = group.size;
  schedule.root = options.root;
  schedule.channels = program.channels;
  schedule.chunks_per_block = program.layout.chunks_per_block;
  schedule.uneven = options.uneven;
  schedule.program_hash = program.hash;
  schedule.ranks.resize(static_cast<std::size_t>(group.size));
  algorithms::LoweringTables tables;
  for (int rank = 0; rank < group.size; ++rank) {
    RankProgram& result = schedule.ranks[static_cast<std::size_t>(rank)];
    result.in_place = options.in_place || algorithm.collective == Collective::Barrier;
    result.channels.resize(static_cast<std::size_t>(program.channels));
    if (options.only_rank < 0 || options.only_rank == rank)
      algorithms::assemble(program, rank, {options.hoist_sends, options.fuse, options.uneven}, tables, result);
  }
  return schedule;
}

}  // namespace weft
