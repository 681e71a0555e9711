// Chain broadcast: the buffer goes along the ring order chunk by chunk, each rank passing a chunk on while the next one
// comes.
//
//   chunk 0:   r0 -> r1 -> r2 -> r3      chunk 1 one step behind, and so on
//
// P + C - 2 steps for C chunks, 1 byte sent per rank and byte: each link carries the buffer once, for large messages.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static constexpr int kChunks = 8;
static constexpr int chunks(int) { return kChunks; }

static void build(ScheduleBuilder& b) {
  const int size = b.size();
  const RingOrder ring = b.ring_order();
  const int root = ring.position(b.root());
  for (int chunk = 0; chunk < kChunks; ++chunk)
    for (int hop = 0; hop + 1 < size; ++hop) b.copy(chunk, ring[root + hop], ring[root + hop + 1]);
}

extern const Algorithm broadcast_chain = {
    .name = "chain",
    .collective = Collective::Broadcast,
    .summary = "P + 6 steps along the ring in 8 chunks, 1 byte per rank and byte; for large messages",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = chunks,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
