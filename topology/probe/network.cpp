// Phase network: the state and rate of NICs from sysfs, /sys/class/infiniband first, then /sys/class/net. And the names
// of Slingshot devices, which hwloc does not know.
#include <algorithm>

#include "topology/facts/pci_place.hpp"
#include "topology/probe/machine_probe.hpp"
#include "topology/probe/sysfs_network.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxSlingshot = 64;

void add_slingshot_names(MachineProbe& probe) {
  const Tree tree(probe.root);
  const std::vector<std::string> names = tree.list("sys/class/cxi").value_or(std::vector<std::string>());
  for (std::size_t i = 0; i < std::min(names.size(), kMaxSlingshot); ++i) {
    const std::optional<std::string> bus_id = pci_behind(tree, "sys/class/cxi/" + names[i]);
    for (Node& node : probe.graph.nodes)
      if (bus_id && node.kind == NodeKind::Nic && node.bus_id == *bus_id &&
          std::find(node.names.begin(), node.names.end(), names[i]) == node.names.end())
        node.names.push_back(names[i]);
  }
}

}  // namespace

void probe_network(MachineProbe& probe) {
  if (probe.root.empty()) return;
  add_slingshot_names(probe);
  for (Node& node : probe.graph.nodes) {
    if (node.kind != NodeKind::Nic) continue;
    PortState state;
    for (const std::string& name : node.names) {
      state = read_verbs_ports(probe.root, name);
      if (state.known()) break;
    }
    for (const std::string& name : node.names)
      if (!state.known()) state = read_net_device(probe.root, name);
    if (state.active) node.active = state.active;
    if (state.rate_gbs) node.network_gbs = state.rate_gbs;
  }
}

}  // namespace weft::topology
