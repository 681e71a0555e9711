// Bruck all_to_all: a block for the rank m places further on travels the powers of two that m consists of; all blocks
// that make the same hop travel as one message.
//
//   4 ranks, from r0:   to r1: +1     to r2: +2     to r3: +1, +2
//
// ceil(log2(P)) messages per rank, but about P/2 blocks in each: for tiny messages and many ranks.  Bruck et al., 1997.
#include <utility>
#include <vector>

#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const int size = b.size();
  for (int hop = 1; hop < size; hop *= 2) {
    for (int rank = 0; rank < size; ++rank) {
      // What is at `rank` now with this hop before it: it has made the hops of its distance below this one.
      std::vector<int> blocks;
      for (int distance = hop; distance < size; ++distance) {
        if ((distance & hop) == 0) continue;
        const int from = (rank - distance % hop + size) % size;
        blocks.push_back(from * size + (from + distance) % size);
      }
      b.copy(std::move(blocks), rank, (rank + hop) % size);
    }
  }
}

extern const Algorithm all_to_all_bruck = {
    .name = "bruck",
    .collective = Collective::AllToAll,
    .summary = "ceil(log2(P)) messages of about P/2 blocks per rank; for tiny messages and many ranks",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_even_blocks,
    .build = build,
};

}  // namespace weft::algorithms
