// Binomial broadcast: the number of ranks that have the buffer doubles each step.
//
//   8 ranks, root r0:   r0 -> r4     r0 -> r2   r4 -> r6     r0 -> r1   r2 -> r3   r4 -> r5   r6 -> r7
//
// ceil(log2(P)) steps; the root sends the whole buffer that often: for small messages.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const int size = b.size();
  const RingOrder ring = b.ring_order();
  const int root = ring.position(b.root());
  for (int reach = largest_power_of_two(size); reach > 0; reach /= 2)
    for (int p = 0; p + reach < size; p += 2 * reach) b.copy(0, ring[root + p], ring[root + p + reach]);
}

extern const Algorithm broadcast_binomial = {
    .name = "binomial",
    .collective = Collective::Broadcast,
    .summary = "ceil(log2(P)) steps, at most that many buffers sent per rank; for small messages",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
