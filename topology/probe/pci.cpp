// Phase pci: host bridges, root ports, switches, and the GPUs and NICs below them, then storage and the bridges that
// only storage needs. Other devices are left out.
//
//   host bridge -> root port -> upstream port (the PciSwitch) -> downstream port -> device
//
// Bridges carry no type, but their depth tells it: below a host bridge are root ports, below a root port or a
// downstream port an upstream port, below that downstream ports. A device without any bridge above it (virtual
// machines) gets an implied host bridge.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "topology/device_kinds.hpp"
#include "topology/probe/machine_probe.hpp"
#include "topology/probe/sysfs_pci.hpp"

namespace weft::topology {
namespace {

constexpr int kMaxPciDepth = 64;

class PciPhase {
 public:
  explicit PciPhase(MachineProbe& probe) : probe_(probe), tree_(probe.tree) {}

  void run() {
    visit(0);
    storage_ = true;
    visit(0);
  }

 private:
  // All I/O children of an object that is not I/O itself, then those of its children.
  void visit(int object) {
    for (int child : tree_.at(object).children)
      if (is_io(tree_.at(child).kind)) visit_root(object, child);
    for (int child : tree_.at(object).children)
      if (!is_io(tree_.at(child).kind)) visit(child);
  }

  void visit_root(int place, int id) {
    place_ = place;
    const Object& object = tree_.at(id);
    if (object.kind == ObjectKind::PciDevice) return visit_device(id, implied_host_bridge(object.pci), kMaxPciDepth);
    if (object.kind != ObjectKind::Bridge) return;
    if (!object.host_bridge) return visit_bridge(id, implied_host_bridge(object.pci), kMaxPciDepth);
    if (!holds_device(id, kMaxPciDepth)) return;
    const auto [found, fresh] = host_bridges_.try_emplace(id, -1);
    if (fresh) found->second = host_bridge(object.below_domain, object.below_bus);
    visit_children(id, found->second, kMaxPciDepth);
  }

  int host_bridge(unsigned domain, unsigned bus) {
    const std::string name = fmt::format("pci{:04x}:{:02x}", domain, bus);
    return probe_.builder.host_bridge(home_of(probe_, place_), probe_.unique_name(name));
  }

  int implied_host_bridge(const PciFunction& pci) {
    const auto [found, fresh] = implied_.try_emplace(std::make_tuple(place_, pci.domain, pci.bus), -1);
    if (fresh) found->second = host_bridge(pci.domain, pci.bus);
    return found->second;
  }

  void visit_children(int object, int parent, int depth) {
    if (depth == 0) return;
    for (int child : tree_.at(object).children) {
      if (tree_.at(child).kind == ObjectKind::Bridge) visit_bridge(child, parent, depth - 1);
      if (tree_.at(child).kind == ObjectKind::PciDevice) visit_device(child, parent, depth - 1);
    }
  }

  // Whether a device that is wanted is somewhere below: bridges without one are left out.
  bool holds_device(int object, int depth) const {
    const std::vector<int>& children = tree_.at(object).children;
    return depth > 0 && std::any_of(children.begin(), children.end(), [&](int child) {
             return (tree_.at(child).kind == ObjectKind::PciDevice && wanted(tree_.at(child).pci)) ||
                    holds_device(child, depth - 1);
           });
  }

  bool wanted(const PciFunction& pci) const {
    const PciRole role = pci_role(pci.pci_class, pci.id());
    return storage_ ? role == PciRole::Storage : role == PciRole::Gpu || role == PciRole::Nic;
  }

  void visit_bridge(int object, int parent, int depth) {
    if (!holds_device(object, depth)) return;
    if (const int known = probe_.node_of_object(object); known >= 0) return visit_children(object, known, depth);
    const NodeKind above = probe_.node(parent).kind;
    const bool above_is_port = above == NodeKind::PciBridge && !probe_.node(parent).bus_id.empty();
    const NodeKind kind = above_is_port ? NodeKind::PciSwitch : NodeKind::PciBridge;
    Node node = pci_node(tree_.at(object).pci, parent);
    node.kind = kind;
    node.name = probe_.unique_name(fmt::format("{}-{}", kind == NodeKind::PciSwitch ? "switch" : "port", node.bus_id));
    visit_children(object, add(std::move(node), object), depth);
  }

  void visit_device(int object, int parent, int depth) {
    const PciFunction& pci = tree_.at(object).pci;
    if (wanted(pci)) {
      Node node = pci_node(pci, parent);
      node.kind = kind_of(pci_role(pci.pci_class, node.device));
      node.name = node.kind == NodeKind::Gpu ? probe_.unique_name(fmt::format("gpu{}", gpus_++)) : node.bus_id;
      if (const std::string* name = tree_.at(object).info("PCIDevice")) node.model = *name;
      if (const std::optional<IndexSet>& cpus = tree_.at(place_).cpus) node.cpus = cpus->list();
      add(std::move(node), object);
    }
    visit_children(object, parent, depth);
  }

  static NodeKind kind_of(PciRole role) {
    if (role == PciRole::Gpu) return NodeKind::Gpu;
    return role == PciRole::Nic ? NodeKind::Nic : NodeKind::Storage;
  }

  Node pci_node(const PciFunction& pci, int parent) {
    Node node;
    node.parent = parent;
    node.bus_id = pci.bus_id();
    node.device = pci.id();
    if (!probe_.root.empty()) node.pci = read_pci_link(probe_.root, node.bus_id);
    return node;
  }

  int add(Node node, int object) {
    std::optional<double> reported;
    if (const double gbs = tree_.at(object).pci.link_gbs; gbs > 0) reported = gbs;
    return probe_.node_of_object(object) = probe_.builder.pci_device(std::move(node), probe_.source, reported);
  }

  MachineProbe& probe_;
  const ObjectTree& tree_;
  bool storage_ = false;  // what is wanted now: storage, or GPUs and NICs
  int place_ = 0;
  std::map<int, int> host_bridges_;                             // by object
  std::map<std::tuple<int, unsigned, unsigned>, int> implied_;  // place, domain, bus
  int gpus_ = 0;
};

}  // namespace

void probe_pci(MachineProbe& probe) { PciPhase(probe).run(); }

}  // namespace weft::topology
