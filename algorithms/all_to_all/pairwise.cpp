// Pairwise all_to_all: in step k everybody sends its block straight to the rank k places further on.
//
//   3 ranks:   step 1: r0 -> r1 -> r2 -> r0     step 2: r0 -> r2 -> r1 -> r0
//
// P-1 messages, P-1 blocks sent per rank: no block travels twice, for all but tiny messages.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const int size = b.size();
  const RingOrder ring = b.ring_order();
  for (int distance = 1; distance < size; ++distance)
    for (int p = 0; p < size; ++p) b.copy(ring[p] * size + ring[p + distance], ring[p], ring[p + distance]);
}

extern const Algorithm all_to_all_pairwise = {
    .name = "pairwise",
    .collective = Collective::AllToAll,
    .summary = "P-1 messages, P-1 blocks per rank; no block travels twice, for all but tiny messages",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
