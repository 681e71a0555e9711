// Recursive doubling all_reduce: in round k everybody exchanges its sum so far with the rank 2^k away, so sums double.
//
//   4 ranks:   r0 <-> r1   r2 <-> r3     then     r0 <-> r2   r1 <-> r3
//
// log2(P) steps, log2(P) bytes sent per rank and byte: few steps, much data, so for small messages. A rank count that
// is no power of two folds its excess into neighbours first and hands them the result at the end (2 more steps).
// Thakur, Rabenseifner, Gropp, 2005.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const PowerOfTwo core(b.size(), b.ring_order());
  for (const auto& [spare, keeper] : core.spares()) b.reduce(0, spare, keeper);
  for (int distance = 1; distance < core.size(); distance *= 2)
    for (int p = 0; p < core.size(); ++p)
      if ((p & distance) == 0) b.exchange(0, core[p], core[p + distance]);
  for (const auto& [spare, keeper] : core.spares()) b.copy(0, keeper, spare);
}

extern const Algorithm all_reduce_recursive_doubling = {
    .name = "recursive_doubling",
    .collective = Collective::AllReduce,
    .summary = "log2(P) steps, log2(P) bytes per rank and byte; few steps, for small messages",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
    .invariant = true,
};

}  // namespace weft::algorithms
