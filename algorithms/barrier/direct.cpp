// Direct barrier: everybody tells everybody that it has come.
//
//   3 ranks:   r0 -> r1, r2    r1 -> r2, r0    r2 -> r0, r1
//
// 1 round of P-1 empty messages per rank: for few ranks, above all where they share cores, because each rank waits
// once.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) { b.reduce_all(0, all_ranks(b.size())); }

extern const Algorithm barrier_direct = {
    .name = "direct",
    .collective = Collective::Barrier,
    .summary = "1 round, everybody to everybody, empty messages; for few ranks",
    .native_channels = 1,
    .replicable = false,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
