// Phase pci: host bridges, root ports, switches, and the GPUs and NICs below them. Other devices are left out.
//
//   host bridge -> root port -> upstream port (the PciSwitch) -> downstream port -> device
//
// Bridges carry no type, but their depth tells it: below a host bridge are root ports, below a root port or a
// downstream port an upstream port, below that downstream ports. A device without any bridge above it (virtual
// machines) gets an implied host bridge.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "topology/device_kinds.hpp"
#include "topology/probe/machine_probe.hpp"
#include "topology/probe/sysfs_pci.hpp"

namespace weft::topology {
namespace {

constexpr int kMaxPciDepth = 64;

using PciAttributes = hwloc_obj_attr_u::hwloc_pcidev_attr_s;

std::string bus_id_of(const PciAttributes& pci) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", static_cast<unsigned>(pci.domain), static_cast<unsigned>(pci.bus),
                     static_cast<unsigned>(pci.dev), static_cast<unsigned>(pci.func));
}

std::string device_id_of(const PciAttributes& pci) {
  return fmt::format("{:04x}:{:04x}", static_cast<unsigned>(pci.vendor_id), static_cast<unsigned>(pci.device_id));
}

class PciPhase {
 public:
  explicit PciPhase(MachineProbe& probe) : probe_(probe) {}

  // All I/O children of an object that is not I/O itself, then those of its children.
  void visit(hwloc_obj_t object) {
    for (hwloc_obj_t child = object->io_first_child; child != nullptr; child = child->next_sibling)
      visit_root(object, child);
    for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) visit(child);
  }

 private:
  void visit_root(hwloc_obj_t place, hwloc_obj_t object) {
    place_ = place;
    if (object->type == HWLOC_OBJ_PCI_DEVICE)
      return visit_device(object, implied_host_bridge(object->attr->pcidev), kMaxPciDepth);
    if (object->type != HWLOC_OBJ_BRIDGE) return;
    const bool host = object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
    if (!host) return visit_bridge(object, implied_host_bridge(object->attr->bridge.upstream.pci), kMaxPciDepth);
    const auto& below = object->attr->bridge.downstream.pci;
    if (!holds_device(object, kMaxPciDepth)) return;
    const std::string name = fmt::format("pci{:04x}:{:02x}", static_cast<unsigned>(below.domain),
                                         static_cast<unsigned>(below.secondary_bus));
    const int id = probe_.builder.host_bridge(home_of(probe_, place), probe_.unique_name(name));
    visit_children(object, id, kMaxPciDepth);
  }

  int implied_host_bridge(const PciAttributes& pci) {
    const auto [found, fresh] = implied_.try_emplace(
        std::make_tuple(place_, static_cast<unsigned>(pci.domain), static_cast<unsigned>(pci.bus)), -1);
    if (fresh) {
      const std::string name =
          fmt::format("pci{:04x}:{:02x}", static_cast<unsigned>(pci.domain), static_cast<unsigned>(pci.bus));
      found->second = probe_.builder.host_bridge(home_of(probe_, place_), probe_.unique_name(name));
    }
    return found->second;
  }

  void visit_children(hwloc_obj_t object, int parent, int depth) {
    for (hwloc_obj_t child = object->io_first_child; child != nullptr && depth > 0; child = child->next_sibling) {
      if (child->type == HWLOC_OBJ_BRIDGE) visit_bridge(child, parent, depth - 1);
      if (child->type == HWLOC_OBJ_PCI_DEVICE) visit_device(child, parent, depth - 1);
    }
  }

  // Whether a GPU or NIC is somewhere below: bridges without one are left out.
  static bool holds_device(hwloc_obj_t object, int depth) {
    for (hwloc_obj_t child = object->io_first_child; child != nullptr && depth > 0; child = child->next_sibling) {
      if (child->type == HWLOC_OBJ_PCI_DEVICE && wanted(child->attr->pcidev)) return true;
      if (holds_device(child, depth - 1)) return true;
    }
    return false;
  }

  static bool wanted(const PciAttributes& pci) {
    const PciRole role = pci_role(pci.class_id, device_id_of(pci));
    return role == PciRole::Gpu || role == PciRole::Nic;
  }

  void visit_bridge(hwloc_obj_t object, int parent, int depth) {
    if (!holds_device(object, depth)) return;
    const NodeKind above = probe_.node(parent).kind;
    const bool above_is_port = above == NodeKind::PciBridge && !probe_.node(parent).bus_id.empty();
    const NodeKind kind = above_is_port ? NodeKind::PciSwitch : NodeKind::PciBridge;
    Node node = pci_node(object->attr->bridge.upstream.pci, parent);
    node.kind = kind;
    node.name = probe_.unique_name(fmt::format("{}-{}", kind == NodeKind::PciSwitch ? "switch" : "port", node.bus_id));
    visit_children(object, add(std::move(node), object->attr->bridge.upstream.pci.linkspeed, object), depth);
  }

  void visit_device(hwloc_obj_t object, int parent, int depth) {
    const PciAttributes& pci = object->attr->pcidev;
    if (wanted(pci)) {
      Node node = pci_node(pci, parent);
      node.kind = pci_role(pci.class_id, node.device) == PciRole::Gpu ? NodeKind::Gpu : NodeKind::Nic;
      node.name = node.kind == NodeKind::Gpu ? probe_.unique_name(fmt::format("gpu{}", gpus_++)) : node.bus_id;
      if (const char* name = hwloc_obj_get_info_by_name(object, "PCIDevice")) node.model = name;
      node.cpus = cpu_list(place_->cpuset);
      add(std::move(node), pci.linkspeed, object);
    }
    visit_children(object, parent, depth);
  }

  Node pci_node(const PciAttributes& pci, int parent) {
    Node node;
    node.parent = parent;
    node.bus_id = bus_id_of(pci);
    node.device = device_id_of(pci);
    if (!probe_.root.empty()) node.pci = read_pci_link(probe_.root, node.bus_id);
    return node;
  }

  int add(Node node, float reported_gbs, hwloc_obj_t object) {
    std::optional<double> reported;
    if (reported_gbs > 0) reported = static_cast<double>(reported_gbs);
    const int id = probe_.builder.pci_device(std::move(node), probe_.source, reported);
    probe_.node_of[object] = id;
    return id;
  }

  MachineProbe& probe_;
  hwloc_obj_t place_ = nullptr;
  std::map<std::tuple<hwloc_obj_t, unsigned, unsigned>, int> implied_;
  int gpus_ = 0;
};

}  // namespace

void probe_pci(MachineProbe& probe) { PciPhase(probe).visit(hwloc_get_root_obj(probe.hwloc)); }

}  // namespace weft::topology
