// What the texts of a host mean, for texts of any origin: the readers call these with files of a tree, a fuzz target
// with anything.
#pragma once

#include <string_view>

#include "base/environment.hpp"
#include "topology/facts/facts.hpp"

namespace weft::topology {

void parse_limits(std::string_view limits, ProcessFacts& process);       // proc/self/limits
void parse_status(std::string_view status, ProcessFacts& process);       // proc/self/status
void parse_numa_maps(std::string_view mappings, ProcessFacts& process);  // proc/self/numa_maps
base::Environment parse_environment(std::string_view environ);           // proc/self/environ
void parse_cpuinfo(std::string_view cpuinfo, PlatformFacts& platform);   // proc/cpuinfo
void parse_nvidia_version(std::string_view text, KernelFacts& kernel);   // proc/driver/nvidia/version

}  // namespace weft::topology
