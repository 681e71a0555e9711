// Direct all_reduce: everybody sends its whole buffer to everybody and sums up for itself, in the order of the ranks.
//
//   3 ranks:   r0 -> r1, r2    r1 -> r2, r0    r2 -> r0, r1      then each computes (v0 + v1) + v2
//
// 1 step, P-1 bytes sent per rank and byte: the lowest latency there is, for small messages and few ranks. All ranks
// hold the same bits, for they evaluate the same sum.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) { b.reduce_all(0, all_ranks(b.size())); }

extern const Algorithm all_reduce_direct = {
    .name = "direct",
    .collective = Collective::AllReduce,
    .summary = "1 step, everybody to everybody, P-1 bytes per rank and byte; lowest latency, for small messages",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
    .invariant = true,
};

}  // namespace weft::algorithms
