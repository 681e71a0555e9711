// Direct all_gather: everybody sends its block to everybody.
//
//   3 ranks:   r0 -> r1, r2    r1 -> r2, r0    r2 -> r0, r1
//
// 1 step, P-1 blocks sent per rank: the lowest latency, and good bandwidth where all pairs of ranks are near each
// other.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const int size = b.size();
  const RingOrder ring = b.ring_order();
  for (int distance = 1; distance < size; ++distance)
    for (int p = 0; p < size; ++p) b.copy(ring[p], ring[p], ring[p + distance]);
}

extern const Algorithm all_gather_direct = {
    .name = "direct",
    .collective = Collective::AllGather,
    .summary = "1 step, everybody to everybody, P-1 blocks per rank; lowest latency",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
