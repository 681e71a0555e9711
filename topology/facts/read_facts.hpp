// Reads the facts of a host, live or from a recorded tree.
#pragma once

#include <string>
#include <vector>

#include "topology/facts/tree.hpp"
#include "topology/survey.hpp"

namespace weft::topology {

// Adds the facts of the survey's one host, whose graph is known, and remarks on what could not be read.
// ResourceExhausted if for want of open files or memory not all was read.
Status read_facts(const std::string& root, Survey& survey);

// All that the readers find below the root of the tree; `graph` gives devices their names.
HostFacts read_host_facts(const Tree& tree, const Graph& graph, std::vector<Remark>& remarks);

}  // namespace weft::topology
