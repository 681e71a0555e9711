// What a NCCL or RCCL topology document says of CPUs and devices beyond the graph.
#pragma once

#include <pugixml.hpp>

#include "topology/facts/facts.hpp"
#include "weft/graph.hpp"

namespace weft::topology::nccl {

// Of the first <cpu> that tells.
void read_cpu_facts(const pugi::xml_node& cpu, PlatformFacts& platform);
// Of a GPU or NIC of the graph; `pci` is empty for a NIC that has no place on PCIe.
DeviceFacts device_facts(const pugi::xml_node& pci, const pugi::xml_node& gpu_or_nic, const Node& node);

}  // namespace weft::topology::nccl
