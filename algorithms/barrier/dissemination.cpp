// Dissemination barrier: in round k everybody tells the rank 2^k further on that it has come, and with it all of whom
// it knows.
//
//   4 ranks, r0 knows of:   0     0,3     0,3,2,1
//
// ceil(log2(P)) rounds of empty messages for any P. Somebody may be heard of twice, which does no harm.
// Hensgen, Finkel, Manber, 1988.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  for (int distance = 1; distance < b.size(); distance *= 2) b.reduce_shift(0, distance);
}

extern const Algorithm barrier_dissemination = {
    .name = "dissemination",
    .collective = Collective::Barrier,
    .summary = "ceil(log2(P)) rounds of empty messages",
    .native_channels = 1,
    .replicable = false,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
