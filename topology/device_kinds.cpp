// What a PCI device is. Ids are those of the PCI id repository.
#include "topology/device_kinds.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weft::topology {
namespace {

constexpr int kVga = 0x0300;
constexpr int k3d = 0x0302;
constexpr int kDisplayOther = 0x0380;
constexpr int kBridgeOther = 0x0680;
constexpr int kProcessingAccelerator = 0x1200;
constexpr int kInfiniBandOld = 0x0c06;
constexpr int kStorageClasses[] = {0x0100, 0x0104, 0x0107, 0x0108, 0x0c04};  // SCSI, RAID, SAS, NVMe, Fibre Channel

// Vendors, or single devices, whose display controllers compute nothing: board management (ASPEED, Matrox, ATI ES1000)
// and virtual machines (QEMU, Cirrus, VMware, Red Hat, virtio, Hyper-V, AWS).
constexpr std::string_view kNoGpu[] = {
    "1a03:", "102b:", "1002:515e", "1234:", "1013:", "15ad:", "1b36:", "1af4:", "1414:", "1d0f:"};

// Vendors, or single devices, whose disks are a hypervisor's: virtio, QEMU, VMware, Hyper-V, Amazon's EBS. And Intel's
// Volume Management Devices, which stand for root ports.
constexpr std::string_view kNoStorage[] = {
    "1af4:",     "1b36:",     "15ad:",     "1414:",     "1d0f:0061", "1d0f:8061",
    "8086:201d", "8086:28c0", "8086:467f", "8086:7d0b", "8086:9a0b", "8086:a77f"};

constexpr std::string_view kFabric[] = {"1d0f:efa", "17db:0501", "8086:24f0", "8086:24f1",
                                        "1fc1:",    "1077:7322", "1077:7220", "1137:0043"};

constexpr std::string_view kEmulated[] = {
    "1b36:", "1af4:", "15ad:", "1414:", "8086:1237", "8086:7000", "8086:29c0", "8086:2918"};

// NVIDIA/Mellanox, AWS, HPE, Intel and QLogic product pages; two-port cards count as one port of the nominal rate.
constexpr std::pair<std::string_view, double> kRates[] = {
    {"15b3:1021", 50},   {"15b3:1023", 100},  {"15b3:101b", 25},   {"15b3:101d", 12.5},  {"15b3:101f", 3.125},
    {"15b3:1019", 12.5}, {"15b3:1017", 12.5}, {"15b3:1013", 12.5}, {"15b3:1015", 3.125}, {"15b3:6746", 4},
    {"1d0f:efa0", 12.5}, {"1d0f:efa1", 12.5}, {"1d0f:efa2", 12.5}, {"1d0f:efa3", 25},    {"17db:0501", 25},
    {"8086:24f0", 12.5}, {"8086:24f1", 12.5}, {"1077:7322", 4},
};

template <typename Table>
bool starts_with_any(std::string_view device, const Table& prefixes) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view p) { return device.starts_with(p); });
}

// Graphics inside AMD's processors (PCI id repository): Raven, Picasso, Renoir, Lucienne, Cezanne, Barcelo, Rembrandt,
// Raphael, Mendocino, Phoenix, Granite Ridge, Strix, Strix Halo.
constexpr std::string_view kAmdInside[] = {"1002:15dd", "1002:15d8", "1002:1636", "1002:164c", "1002:1638",
                                           "1002:15e7", "1002:1681", "1002:164e", "1002:1506", "1002:15bf",
                                           "1002:15c8", "1002:13c0", "1002:150e", "1002:1586", "1002:1900"};

// Intel's cards: Data Center GPU Max and Flex, Arc; all others of its graphics are inside processors.
constexpr std::string_view kIntelCards[] = {"8086:0bd", "8086:020", "8086:56", "8086:e2", "8086:490"};

}  // namespace

PciRole pci_role(int pci_class, std::string_view device) {
  const bool display = pci_class == kVga || pci_class == k3d || pci_class == kDisplayOther;
  const bool accelerator = pci_class == kProcessingAccelerator && device.starts_with("1002:");
  if (accelerator || (display && !starts_with_any(device, kNoGpu))) return PciRole::Gpu;
  if ((pci_class >> 8) == 0x02 || pci_class == kInfiniBandOld) return PciRole::Nic;
  if (pci_class == kBridgeOther && device.starts_with("10de:")) return PciRole::NvSwitch;
  const bool storage =
      std::find(std::begin(kStorageClasses), std::end(kStorageClasses), pci_class) != std::end(kStorageClasses);
  if (storage && !starts_with_any(device, kNoStorage)) return PciRole::Storage;
  return PciRole::Other;
}

bool is_fabric_device(std::string_view device) { return starts_with_any(device, kFabric); }

bool is_efa(std::string_view device) { return device.starts_with("1d0f:efa"); }
bool is_slingshot(std::string_view device) { return device == "17db:0501"; }

bool is_emulated_bridge(std::string_view device) { return starts_with_any(device, kEmulated); }
bool slows_link_when_idle(std::string_view device) {
  return device.starts_with("10de:") || device.starts_with("1002:");
}

bool is_graphics_inside_cpu(std::string_view device) {
  if (device.starts_with("8086:")) return !starts_with_any(device, kIntelCards);
  return std::find(std::begin(kAmdInside), std::end(kAmdInside), device) != std::end(kAmdInside);
}

std::optional<double> nominal_network_gbs(std::string_view device) {
  for (const auto& [id, rate] : kRates)
    if (id == device) return rate;
  return std::nullopt;
}

}  // namespace weft::topology
