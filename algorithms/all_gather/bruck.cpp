// Bruck all_gather: in round k everybody passes all it has, up to what is missing, to the rank 2^k below it.
//
//   5 ranks, r0 has:   0    0,1    0,1,2,3    0,1,2,3,4
//
// ceil(log2(P)) steps for any P, P-1 blocks sent per rank: optimal in steps and in data, but blocks travel far and are
// packed where they wrap around, so for small messages.  Bruck et al., 1997.
#include <algorithm>

#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const int size = b.size();
  for (int have = 1; have < size; have *= 2) {
    const int sent = std::min(have, size - have);
    for (int rank = 0; rank < size; ++rank) b.copy(wrapped_blocks(rank, sent, size), rank, (rank - have + size) % size);
  }
}

extern const Algorithm all_gather_bruck = {
    .name = "bruck",
    .collective = Collective::AllGather,
    .summary = "ceil(log2(P)) steps, P-1 blocks per rank; few steps for any number of ranks, for small messages",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
