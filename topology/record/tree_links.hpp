// Links of a recorded tree must not lead out of it: what follows them would read this machine.
#pragma once

#include <string>

#include "weft/status.hpp"

namespace weft::topology {

// Corrupt, naming the first link that leads out of the tree at `root`. The file systems of a live kernel (/sys of a
// host that a container sees) are trusted.
Status check_links(const std::string& root);

}  // namespace weft::topology
