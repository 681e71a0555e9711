// Lists of numbered names for people.
#pragma once

#include <string>
#include <vector>

namespace weft::topology {

// "node[001-003] node007": runs of three and more as a range, and at most a dozen of these.
std::string name_ranges(const std::vector<std::string>& names);

}  // namespace weft::topology
