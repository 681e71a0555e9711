// Hierarchical reduce_scatter: on each host one rank sums up what its ranks have of a block; the block goes round the
// hosts as a ring, collecting, and ends at the rank that it is for.
//
//   2 hosts of 2 ranks, block of r0:   r3 -> r2 -> r0   r1 -> r0
//
// H-1 steps between H hosts, over whose links (H-1)/H of the buffer goes, the least there is. For large messages where
// links between hosts are slower than within.
#include "algorithms/hosts.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const HostBlocks owners(b.group(), b.size());
  reduce_within_hosts(b, owners, b.size());
  reduce_round_hosts(b, owners, b.size());
}

extern const Algorithm reduce_scatter_hierarchical = {
    .name = "hierarchical",
    .collective = Collective::ReduceScatter,
    .summary = "within hosts, then a ring between H hosts; each link carries (H-1)/H of the buffer",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = needs_several_hosts,
    .build = build,
};

}  // namespace weft::algorithms
