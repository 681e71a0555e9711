// Which PCI device is behind a device of a class, "sys/class/net/eth0".
#pragma once

#include <optional>
#include <string>

#include "topology/facts/tree.hpp"

namespace weft::topology {

// The bus id of the device, or of the nearest PCI device above it: a virtio interface's own is not on the bus.
std::optional<std::string> pci_behind(const Tree& tree, const std::string& path);

}  // namespace weft::topology
