// A graph in the language of Graphviz.
#pragma once

#include <string>

#include "weft/graph.hpp"

namespace weft::topology {

// Machines, packages and NUMA nodes are clusters; links are coloured by bandwidth, assumed ones dashed.
std::string to_dot(const Graph& graph);

}  // namespace weft::topology
