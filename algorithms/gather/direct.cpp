// Direct gather: every rank sends its block straight to the root.
//
//   4 ranks, root r0:   r1 -> r0   r2 -> r0   r3 -> r0
//
// One step, and the root receives P-1 messages: no block travels twice, and both ends of a message know its count, so
// it also serves gather_v.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  for (int step = 1; step < b.size(); ++step) {
    const int rank = (b.root() + step) % b.size();
    b.copy(rank, rank, b.root());
  }
}

extern const Algorithm gather_direct = {
    .name = "direct",
    .collective = Collective::Gather,
    .summary = "P-1 messages straight to the root; no block travels twice, and its count is known at both ends",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
