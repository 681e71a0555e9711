// What libhwloc finds on this machine or in a recorded tree, as an ObjectTree. The only file that knows libhwloc.
#pragma once

#include <string>

#include "topology/probe/object_tree.hpp"
#include "weft/status.hpp"

namespace weft::topology {

// What hwloc knows of GPUs where it is built with their vendors' libraries.
enum class VendorBackends { Ask, LeaveOut };

// Whether a tree holds what libhwloc takes CPUs from. Where it does not, libhwloc counts those of the machine it runs
// on.
bool tells_cpus(const std::string& root);

// Packages, cores and CPUs only if they are told. `root`: "/" for this machine, else the folder that holds the tree's
// sys/ and proc/.
Result<ObjectTree> read_hwloc_objects(const std::string& root, VendorBackends backends);

}  // namespace weft::topology
