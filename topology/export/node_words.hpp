// What pictures and reports say of a node.
#pragma once

#include <optional>
#include <string>

#include "topology/locality.hpp"

namespace weft::topology {

// "PCIe x16 32 GT/s", and what it could be where that is more; empty if nothing is known.
std::string pci_words(const PciLink& pci);
// "fabric, 400 Gbit/s, up".
std::string nic_words(const Node& nic);
std::string memory_words(std::uint64_t bytes);  // "503.7 GiB"
// Everything about a node on one line, the facts two blanks apart.
std::string describe_node(const Node& node, const Locality& locality);

}  // namespace weft::topology
