// Ring all_reduce: every chunk goes round the ring twice, first collecting, then handing out the sum.
//
//   4 ranks, chunk 0:   r0 -> r1 -> r2 -> r3   reduce       r3 -> r0 -> r1 -> r2   copy
//
// 2(P-1) steps, 2(P-1)/P bytes sent per rank and byte: optimal in bandwidth, worst in latency, so for large messages.
// Patarasuk and Yuan, 2009.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const int size = b.size();
  const RingOrder ring = b.ring_order();
  for (int hop = 0; hop + 1 < size; ++hop)
    for (int c = 0; c < size; ++c) b.reduce(c, ring[c + hop], ring[c + hop + 1]);
  for (int hop = 0; hop + 1 < size; ++hop)
    for (int c = 0; c < size; ++c) b.copy(c, ring[c + hop - 1], ring[c + hop]);
}

extern const Algorithm all_reduce_ring = {
    .name = "ring",
    .collective = Collective::AllReduce,
    .summary =
        "2(P-1) steps round the ring, 2(P-1)/P bytes per rank and byte; optimal in bandwidth, for large messages",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = chunk_per_rank,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
