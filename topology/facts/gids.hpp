// Addresses in the GID table of a RoCE port.
#pragma once

#include "topology/facts/facts.hpp"

namespace weft::topology {

// ::ffff:a.b.c.d, in whatever way it is written.
bool is_ipv4_gid(const GidFacts& gid);
// fe80::/10: not routed.
bool is_link_local_gid(const GidFacts& gid);
// The entry that a job should use: RoCE v2 with an IPv4 address, else RoCE v2 that is routed; null if there is none.
const GidFacts* best_gid(const PortFacts& port);

}  // namespace weft::topology
