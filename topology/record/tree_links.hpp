// What libhwloc must not meet in a recorded tree: links that lead out of it, since what follows them would read this
// machine; what has no end: pipes, devices, huge files; and a list of NUMA nodes that is none.
#pragma once

#include <string>

#include "weft/status.hpp"

namespace weft::topology {

// Corrupt, naming the first of these in the tree at `root`. The file systems of a live kernel (/sys of a
// host that a container sees) are trusted.
Status check_links(const std::string& root);

}  // namespace weft::topology
