// Ring all_gather: every block goes round the ring once.
//
//   4 ranks, block of r0:   r0 -> r1 -> r2 -> r3
//
// P-1 steps, P-1 blocks sent per rank: optimal in bandwidth and only between neighbours, for large messages.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const int size = b.size();
  const RingOrder ring = b.ring_order();
  for (int hop = 0; hop + 1 < size; ++hop)
    for (int p = 0; p < size; ++p) b.copy(ring[p], ring[p + hop], ring[p + hop + 1]);
}

extern const Algorithm all_gather_ring = {
    .name = "ring",
    .collective = Collective::AllGather,
    .summary = "P-1 steps round the ring, P-1 blocks per rank; only between neighbours, for large messages",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
