// Hierarchical all_gather: a block goes round the hosts as a ring; on each, the rank that it came to hands it to the
// others.
//
//   2 hosts of 2 ranks, block of r0:   r0 -> r2   then   r0 -> r1   r2 -> r3
//
// H-1 steps between H hosts, over whose links (H-1)/H of the buffer goes, the least there is. For large messages where
// links between hosts are slower than within.
#include "algorithms/hosts.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const HostBlocks owners(b.group(), b.size());
  copy_round_hosts(b, owners, b.size());
  copy_within_hosts(b, owners, b.size());
}

extern const Algorithm all_gather_hierarchical = {
    .name = "hierarchical",
    .collective = Collective::AllGather,
    .summary = "a ring between H hosts, then within hosts; each link carries (H-1)/H of the buffer",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = needs_several_hosts,
    .build = build,
};

}  // namespace weft::algorithms
