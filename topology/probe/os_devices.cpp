// Phase os_devices: the operating system's names for GPUs, NICs and storage (nvml0, mlx5_0, eth0, nvme0n1), the model a
// driver tells, and whether a fabric can drive a NIC. A NIC is called by its verbs device, else by its network
// interface, a drive by its block device, and an adapter with many drives by a number.
#include <algorithm>
#include <string>
#include <string_view>

#include "topology/device_kinds.hpp"
#include "topology/probe/machine_probe.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxNames = 256;         // of one device, as many as JSON reads back
constexpr std::string_view kActivePort = "4";  // of the verbs port states

// Whether any port of a verbs device is active; nothing where none tells.
std::optional<bool> port_active(const Object& device) {
  std::optional<bool> active;
  for (const auto& [name, value] : device.infos)
    if (name.starts_with("Port") && name.ends_with("State"))
      active = active.value_or(false) || value.starts_with(kActivePort);
  return active;
}

void note(Node& node, const Object& device) {
  if ((device.os_device & kOpenFabrics) != 0) {
    node.fabric = true;
    node.names.insert(node.names.begin(), device.name);
    if (const std::optional<bool> active = port_active(device)) node.active = active;
    return;
  }
  node.names.push_back(device.name);
  if (const std::string* model = device.info("GPUModel")) node.model = *model;
}

// Of a NIC its interfaces, of a GPU what draws or computes, of storage its block devices.
bool is_wanted(const Node& node, const Object& device) {
  if (device.name.empty() || node.names.size() == kMaxNames) return false;
  if (node.kind == NodeKind::Nic) return (device.os_device & (kNetwork | kOpenFabrics)) != 0;
  if (node.kind == NodeKind::Storage) return (device.os_device & kStorage) != 0;
  return (device.os_device & (kGpu | kCoProcessor)) != 0;
}

}  // namespace

void probe_os_devices(MachineProbe& probe) {
  for (int object : probe.tree.all(ObjectKind::OsDevice)) {
    const Object& device = probe.tree.at(object);
    int above = device.parent;
    while (above >= 0 && probe.tree.at(above).kind == ObjectKind::OsDevice) above = probe.tree.at(above).parent;
    if (above < 0 || probe.node_of_object(above) < 0) continue;
    Node& node = probe.node(probe.node_of_object(above));
    const bool named = node.kind == NodeKind::Gpu || node.kind == NodeKind::Nic || node.kind == NodeKind::Storage;
    if (named && is_wanted(node, device)) note(node, device);
  }
  int unnamed = 0;
  int storage = 0;
  for (Node& node : probe.graph.nodes) {
    if (node.kind == NodeKind::Storage)
      node.name =
          probe.unique_name(node.names.size() == 1 ? node.names.front() : "storage" + std::to_string(storage++));
    if (node.kind != NodeKind::Nic) continue;
    node.fabric = node.fabric || is_fabric_device(node.device);
    node.network_gbs = nominal_network_gbs(node.device);
    node.name = probe.unique_name(node.names.empty() ? "nic" + std::to_string(unnamed++) : node.names.front());
  }
}

}  // namespace weft::topology
