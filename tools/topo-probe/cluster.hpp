// topo-probe --cluster: where the nodes of a cluster come from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/cluster/cluster.hpp"
#include "weft/options.hpp"

namespace weft::topo_probe {

// A node for each file and folder in `folder`, of any kind that load_survey() reads; hidden ones are passed over. What
// cannot be read is a node that tells why, unless it is something else: that is left out and named.
Result<topology::cluster::ClusterSource> nodes_of_folder(const std::string& folder);

// The ranks of a job that a launcher started survey their hosts, one rank each, and rank 0 gathers. On other ranks
// nothing is returned. A rank that dies or does not answer by the deadline is a node that tells so. With
// `measure` every host is measured, and then streams from each host to the next.
Result<std::optional<std::vector<topology::cluster::ClusterNode>>> gather_nodes(const Options& options, int timeout_ms,
                                                                                bool measure);

}  // namespace weft::topo_probe
