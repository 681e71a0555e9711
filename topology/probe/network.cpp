// Phase network: the state and rate of NICs from sysfs, /sys/class/infiniband first, then /sys/class/net.
#include "topology/probe/sysfs_network.hpp"

#include "topology/probe/machine_probe.hpp"

namespace weft::topology {

void probe_network(MachineProbe& probe) {
  if (probe.root.empty()) return;
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
