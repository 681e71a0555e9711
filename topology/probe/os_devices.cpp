// Phase os_devices: the operating system's names for GPUs and NICs (nvml0, mlx5_0, eth0), the model a driver tells, and
// whether a fabric can drive a NIC. A NIC is called by its verbs device, else by its network interface.
#include <algorithm>
#include <string>
#include <string_view>

#include "topology/device_kinds.hpp"
#include "topology/probe/machine_probe.hpp"

namespace weft::topology {
namespace {

constexpr std::string_view kActivePort = "4";  // of the verbs port states

// Whether any port of a verbs device is active; nothing where none tells.
std::optional<bool> port_active(hwloc_obj_t device) {
  std::optional<bool> active;
  for (unsigned i = 0; i < device->infos_count; ++i) {
    const std::string_view name = device->infos[i].name;
    if (!name.starts_with("Port") || !name.ends_with("State")) continue;
    active = active.value_or(false) || std::string_view(device->infos[i].value).starts_with(kActivePort);
  }
  return active;
}

void note(Node& node, hwloc_obj_t device) {
  const hwloc_obj_osdev_type_t type = device->attr->osdev.type;
  if (type == HWLOC_OBJ_OSDEV_OPENFABRICS) {
    node.fabric = true;
    node.names.insert(node.names.begin(), device->name);
    if (const std::optional<bool> active = port_active(device)) node.active = active;
    return;
  }
  node.names.emplace_back(device->name);
  if (const char* model = hwloc_obj_get_info_by_name(device, "GPUModel")) node.model = model;
}

// Of a NIC its interfaces, of a GPU what draws or computes; block devices and the like are other functions' business.
bool is_wanted(const Node& node, hwloc_obj_t device) {
  if (device->name == nullptr) return false;
  const hwloc_obj_osdev_type_t type = device->attr->osdev.type;
  if (node.kind == NodeKind::Nic) return type == HWLOC_OBJ_OSDEV_NETWORK || type == HWLOC_OBJ_OSDEV_OPENFABRICS;
  return type == HWLOC_OBJ_OSDEV_GPU || type == HWLOC_OBJ_OSDEV_COPROC;
}

}  // namespace

void probe_os_devices(MachineProbe& probe) {
  for (hwloc_obj_t device = nullptr; (device = hwloc_get_next_osdev(probe.hwloc, device)) != nullptr;) {
    hwloc_obj_t above = device->parent;
    while (above != nullptr && above->type == HWLOC_OBJ_OS_DEVICE) above = above->parent;
    const auto found = probe.node_of.find(above);
    if (found == probe.node_of.end()) continue;
    Node& node = probe.node(found->second);
    if ((node.kind == NodeKind::Gpu || node.kind == NodeKind::Nic) && is_wanted(node, device)) note(node, device);
  }
  int unnamed = 0;
  for (Node& node : probe.graph.nodes) {
    if (node.kind != NodeKind::Nic) continue;
    node.fabric = node.fabric || is_fabric_device(node.device);
    node.network_gbs = nominal_network_gbs(node.device);
    node.name = probe.unique_name(node.names.empty() ? "nic" + std::to_string(unnamed++) : node.names.front());
  }
}

}  // namespace weft::topology
