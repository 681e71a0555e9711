// Tables of facts, compared: "kernel.version" is of the group "kernel", "interfaces[eth0].mtu" one of the facts about
// "interfaces[eth0]".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "topology/diff/change.hpp"

namespace weft::topology {

using FactTable = std::map<std::string, std::string>;

// Appends what differs. What only one table has is lost or added only if `equally_told`, and the other table knows of
// its group: else one source says less. What is lost as a whole is told once.
void compare_tables(const std::string& subject, const FactTable& before, const FactTable& after, bool equally_told,
                    std::vector<Change>& changes);

}  // namespace weft::topology
