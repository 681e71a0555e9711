// The link of a PCI device as sysfs shows it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "weft/graph.hpp"

namespace weft::topology {

// "16.0 GT/s PCIe" -> 16; nothing for "Unknown" and the like.
std::optional<double> parse_link_speed(std::string_view text);

// What <root>/sys/bus/pci/devices/<bus_id> tells; a width of 0 (no link) and texts without a number are unknown.
PciLink read_pci_link(const std::string& root, const std::string& bus_id);

}  // namespace weft::topology
