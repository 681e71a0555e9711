// Which CPUs measure: one of each core, and only allowed ones.
#pragma once

#include <vector>

#include "topology/survey.hpp"

namespace weft::topology {

// Of a NUMA node or core group of the survey's only host. May be empty.
std::vector<int> measuring_cpus(const Survey& survey, const Node& node);

}  // namespace weft::topology
