// FabricSpec: the network between hosts in a few numbers, as a model's line or a fabric file gives them, and the
// switches and links it stands for.
//
//   host - NICs - leaf switch - spine of the pod - core          levels 1: one switch, 2: leaf and spine, 3: all
//
// The switches of one level that share load stand as one node: traffic is taken to be spread evenly over them. What
// remains is what a fat tree is judged by: which hosts meet where, and how wide the way up is.
#pragma once

#include <cstdint>

#include "weft/graph.hpp"
#include "weft/status.hpp"

namespace weft::topology {

enum class Rails : std::uint8_t {
  None,    // all NICs of a host are joined to one leaf
  Joined,  // NIC k of each host of a group to leaf k of that group; the leaves meet above
  Only,    // likewise, but rails meet nowhere: each has switches of its own
};

struct FabricSpec {
  int levels = 1;  // of switches, 1 to 3
  Rails rails = Rails::None;
  int leaf_hosts = 0;                // hosts of one leaf, or of one group of rail leaves; 0: see fill_defaults()
  int pod_hosts = 0;                 // hosts below one spine, with 3 levels; a multiple of leaf_hosts
  double leaf_oversubscription = 1;  // rate towards hosts over rate upwards
  double pod_oversubscription = 1;   // of a pod's spine, with 3 levels
  double latency_us = 0.3;           // of a link between switches; a port-to-port hop is 0.1 to 0.3 us

  bool operator==(const FabricSpec&) const = default;
};

// What was not given: leaves of 32 ports towards hosts (all NICs of a host at one leaf; with rails one of each host),
// pods of 32 leaves.
void fill_defaults(FabricSpec& spec, int nics_per_host);

// InvalidArgument names the number that does not fit.
Status check_fabric(const FabricSpec& spec);

// Joins all hosts of a graph that has no network yet. Hosts without NICs are joined at their machine. A graph of one
// host stays as it is.
void join_hosts(Graph& graph, const FabricSpec& spec);

}  // namespace weft::topology
