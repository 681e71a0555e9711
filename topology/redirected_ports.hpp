// PCIe ports that redirect what devices below one switch send each other (ACS): asked by the audit and by advice, which
// must not judge differently.
#pragma once

#include <utility>
#include <vector>

#include "topology/locality.hpp"
#include "topology/survey.hpp"

namespace weft::topology {

// Access Control Services of a switch port (PCI Express base specification, 6.12): with request or completion redirect,
// peer-to-peer transfers go to the root complex, where they are slow or refused.
struct RedirectedPorts {
  std::vector<int> ports;                  // node ids, each once
  std::vector<std::pair<int, int>> pairs;  // of devices with such a port between them
};

// Between these GPUs of one host, and between them and these NICs. Only ports that lie between two devices without a
// host bridge count; devices that are held for guests (vfio-pci) do not, as a hypervisor needs redirection for them.
RedirectedPorts redirected_ports(const Survey& survey, Locality& locality, std::vector<int> gpus,
                                 const std::vector<int>& nics);

// Bridges and switch ports along the best path from a GPU to another device of its host.
std::vector<int> bridges_between(Locality& locality, int gpu, int device);

}  // namespace weft::topology
