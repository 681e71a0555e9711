// Binomial reduce: the broadcast tree upwards; the number of ranks that hold a partial sum halves each step.
//
//   8 ranks, root r0:   r1 -> r0   r3 -> r2   r5 -> r4   r7 -> r6     r2 -> r0   r6 -> r4     r4 -> r0
//
// ceil(log2(P)) steps, 1 byte sent per rank and byte; the root receives the whole buffer ceil(log2(P)) times.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const int size = b.size();
  const RingOrder ring = b.ring_order();
  const int root = ring.position(b.root());
  for (int reach = 1; reach < size; reach *= 2)
    for (int p = 0; p + reach < size; p += 2 * reach) b.reduce(0, ring[root + p + reach], ring[root + p]);
}

extern const Algorithm reduce_binomial = {
    .name = "binomial",
    .collective = Collective::Reduce,
    .summary = "ceil(log2(P)) steps, 1 byte per rank and byte",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
