// Direct broadcast: the root sends its buffer to everybody.
//
//   4 ranks, root r0:   r0 -> r1, r2, r3
//
// 1 step, the root sends P-1 bytes per byte: the lowest latency there is, for small messages and few ranks.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  for (int distance = 1; distance < b.size(); ++distance) b.copy(0, b.root(), (b.root() + distance) % b.size());
}

extern const Algorithm broadcast_direct = {
    .name = "direct",
    .collective = Collective::Broadcast,
    .summary = "1 step, the root sends P-1 bytes per byte; for small messages and few ranks",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
