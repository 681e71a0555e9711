// Binomial scatter: ranks pass on the half of their blocks that lies beyond them, in messages that halve in size.
//
//   8 ranks, root r0:   r0 -> r4: 4-7     r0 -> r2: 2,3   r4 -> r6: 6,7     r0 -> r1: 1   r2 -> r3: 3   r4 -> r5: 5 r6
//   -> r7: 7
//
// ceil(log2(P)) steps; the root sends P-1 blocks in as many messages. Counted from the root in the order of the ranks,
// so that a message is one run of blocks wherever it does not wrap around.
#include <algorithm>

#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const int size = b.size();
  const auto rank = [&](int p) { return (b.root() + p) % size; };
  for (int reach = largest_power_of_two(size); reach > 0; reach /= 2)
    for (int p = 0; p + reach < size; p += 2 * reach)
      b.copy(wrapped_blocks(rank(p + reach), std::min(reach, size - p - reach), size), rank(p), rank(p + reach));
}

extern const Algorithm scatter_binomial = {
    .name = "binomial",
    .collective = Collective::Scatter,
    .summary = "ceil(log2(P)) steps, the root sends P-1 blocks in as many messages",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_even_blocks,
    .build = build,
};

}  // namespace weft::algorithms
