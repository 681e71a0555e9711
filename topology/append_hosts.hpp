// Puts the machines of one graph beside those of another: what merging and fabrics are made of.
#pragma once

#include <vector>

#include "topology/survey.hpp"
#include "weft/graph.hpp"

namespace weft::topology {

// Appends the machines of `part`, without its network; `first_host` are there already. Gives the new id of each of its
// nodes, -1 for switches of the network.
std::vector<int> append_hosts(Graph& cluster, int first_host, const Graph& part);

// Likewise with facts, remarks and measurements. Hosts without facts get empty ones, so that positions stay right.
void append_hosts(Survey& cluster, const Survey& part);

}  // namespace weft::topology
