// Direct reduce_scatter: everybody sends everybody its block, and each sums up its own in the order of the ranks.
//
//   3 ranks:   block 0: r1, r2 -> r0     block 1: r0, r2 -> r1     block 2: r0, r1 -> r2
//
// 1 step, P-1 blocks sent per rank: the lowest latency, and good bandwidth where all pairs of ranks are near each
// other.
#include <vector>

#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const std::vector<int> ranks = all_ranks(b.size());
  for (const int owner : ranks) b.reduce_in_order(owner, ranks, owner);
}

extern const Algorithm reduce_scatter_direct = {
    .name = "direct",
    .collective = Collective::ReduceScatter,
    .summary = "1 step, everybody to everybody, P-1 blocks per rank; lowest latency",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
    .invariant = true,
};

}  // namespace weft::algorithms
