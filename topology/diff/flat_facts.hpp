// Facts as a flat table: "kernel.version" -> "6.1.0". Made of visit_fields, so that new facts are compared at once.
#pragma once

#include <map>
#include <string>

#include "topology/facts/facts.hpp"

namespace weft::topology {

// Without devices, and without what changes from one moment to the next: counters, resident pages, clocks, times.
std::map<std::string, std::string> flat_facts(const HostFacts& host);
// Without names and numbers that a guest renumbers.
std::map<std::string, std::string> flat_facts(const DeviceFacts& device);

}  // namespace weft::topology
