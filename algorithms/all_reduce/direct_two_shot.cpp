// Direct two-shot all_reduce: rank c sums up chunk c, which all send it, and sends the sum to all.
//
//   3 ranks:   chunk 0: r1, r2 -> r0     chunk 1: r0, r2 -> r1     chunk 2: r0, r1 -> r2       then back
//
// 2 steps, 2(P-1)/P bytes sent per rank and byte: few steps and little data where all pairs of ranks are near each
// other (one host, one switch). The sums are taken in the order of the ranks, like those of `direct`.
#include <vector>

#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const std::vector<int> ranks = all_ranks(b.size());
  for (const int owner : ranks) b.reduce_in_order(owner, ranks, owner);
  for (int distance = 1; distance < b.size(); ++distance)
    for (const int owner : ranks) b.copy(owner, owner, (owner + distance) % b.size());
}

extern const Algorithm all_reduce_direct_two_shot = {
    .name = "direct_two_shot",
    .collective = Collective::AllReduce,
    .summary = "2 steps, everybody to everybody, 2(P-1)/P bytes per rank and byte; where all ranks are near each other",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = chunk_per_rank,
    .unsupported = serves_everything,
    .build = build,
    .invariant = true,
};

}  // namespace weft::algorithms
