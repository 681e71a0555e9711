// Ring reduce_scatter: every block goes round the ring once, from its owner's neighbour to its owner, collecting.
//
//   4 ranks, block of r0:   r1 -> r2 -> r3 -> r0
//
// P-1 steps, P-1 blocks sent per rank: optimal in bandwidth and only between neighbours, for large messages.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const int size = b.size();
  const RingOrder ring = b.ring_order();
  for (int hop = 1; hop < size; ++hop)
    for (int p = 0; p < size; ++p) b.reduce(ring[p], ring[p + hop], ring[p + hop + 1]);
}

extern const Algorithm reduce_scatter_ring = {
    .name = "ring",
    .collective = Collective::ReduceScatter,
    .summary = "P-1 steps round the ring, P-1 blocks per rank; only between neighbours, for large messages",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
