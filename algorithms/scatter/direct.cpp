// Direct scatter: the root sends every rank its block.
//
//   4 ranks, root r0:   r0 -> r1   r0 -> r2   r0 -> r3
//
// One step, and the root sends P-1 messages: no block travels twice, and both ends of a message know its count, so it
// also serves scatter_v.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  for (int step = 1; step < b.size(); ++step) {
    const int rank = (b.root() + step) % b.size();
    b.copy(rank, b.root(), rank);
  }
}

extern const Algorithm scatter_direct = {
    .name = "direct",
    .collective = Collective::Scatter,
    .summary = "P-1 messages straight from the root; no block travels twice, and its count is known at both ends",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
