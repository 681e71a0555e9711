// Hierarchical all_reduce: the ranks of each host sum up a part of the buffer each; each part goes round the hosts as a
// ring, first collecting, then handing out the sum; then the hosts' ranks hand each other the sums.
//
//   2 hosts of 2 ranks:   r0 <-> r1, r2 <-> r3   then   r0 <-> r2, r1 <-> r3   then   r0 <-> r1, r2 <-> r3
//
// 2(H-1) steps between H hosts, over whose links 2(H-1)/H bytes go per byte, the least there is; all ranks of a host
// share that. For large messages where links between hosts are slower than within.
#include "algorithms/hosts.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const int chunks = b.size();
  const HostOwners owners(b.group(), chunks);
  reduce_within_hosts(b, owners, chunks);
  reduce_round_hosts(b, owners, chunks);
  copy_round_hosts(b, owners, chunks);
  copy_within_hosts(b, owners, chunks);
}

extern const Algorithm all_reduce_hierarchical = {
    .name = "hierarchical",
    .collective = Collective::AllReduce,
    .summary = "within hosts, a ring between H hosts, within hosts; each link carries 2(H-1)/H bytes per byte",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = chunk_per_rank,
    .unsupported = needs_several_hosts,
    .build = build,
};

}  // namespace weft::algorithms
