// What a PCI device is, by class and id: one table for all sources of graphs.
#pragma once

#include <optional>
#include <string_view>

namespace weft::topology {

enum class PciRole { Gpu, Nic, NvSwitch, Storage, Other };

// `pci_class`: the upper 16 bits, 0x0302. `device`: "10de:2330". Display controllers of boards and virtual machines are
// Other, and so are disks of virtual machines and controllers inside a chipset (SATA, IDE).
PciRole pci_role(int pci_class, std::string_view device);

// A NIC that a fabric library drives even where no verbs device shows: EFA, Slingshot, Omni-Path, QLogic InfiniBand,
// Cisco usNIC.
bool is_fabric_device(std::string_view device);

// Amazon's Elastic Fabric Adapter; HPE's Slingshot.
bool is_efa(std::string_view device);
bool is_slingshot(std::string_view device);

// A bridge of a virtual machine: its link speed and width mean nothing.
bool is_emulated_bridge(std::string_view device);

// GPUs that lower their link's speed when idle.
bool slows_link_when_idle(std::string_view device);

// A GPU that is part of a processor: no accelerator for a job.
bool is_graphics_inside_cpu(std::string_view device);

// The nominal rate of the device's ports together, GB/s each way, where the id tells it.
std::optional<double> nominal_network_gbs(std::string_view device);

}  // namespace weft::topology
