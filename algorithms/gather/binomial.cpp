// Binomial gather: ranks pass on what they have collected, in messages that double in size.
//
//   8 ranks, root r0:   r1 -> r0: 1   r3 -> r2: 3   r5 -> r4: 5   r7 -> r6: 7     r2 -> r0: 2,3   r6 -> r4: 6,7     r4
//   -> r0: 4-7
//
// ceil(log2(P)) steps; the root receives P-1 blocks in as many messages. Counted from the root in the order of the
// ranks, so that what a rank has collected is one run of blocks wherever it does not wrap around.
#include <algorithm>

#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const int size = b.size();
  const auto rank = [&](int p) { return (b.root() + p) % size; };
  for (int reach = 1; reach < size; reach *= 2)
    for (int p = 0; p + reach < size; p += 2 * reach)
      b.copy(wrapped_blocks(rank(p + reach), std::min(reach, size - p - reach), size), rank(p + reach), rank(p));
}

extern const Algorithm gather_binomial = {
    .name = "binomial",
    .collective = Collective::Gather,
    .summary = "ceil(log2(P)) steps, the root receives P-1 blocks in as many messages",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_even_blocks,
    .build = build,
};

}  // namespace weft::algorithms
