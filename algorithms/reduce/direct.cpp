// Direct reduce: everybody sends its whole buffer to the root, which sums up in the order of the ranks.
//
//   4 ranks, root r0:   r1, r2, r3 -> r0
//
// 1 step, 1 byte sent per rank and byte, and the root takes P-1 of them: for small messages and few ranks, and where
// the order of the sum matters, which does not depend on the root.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) { b.reduce_in_order(0, all_ranks(b.size()), b.root()); }

extern const Algorithm reduce_direct = {
    .name = "direct",
    .collective = Collective::Reduce,
    .summary = "1 step, the root takes P-1 bytes per byte; for small messages and few ranks",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
    .invariant = true,
};

}  // namespace weft::algorithms
