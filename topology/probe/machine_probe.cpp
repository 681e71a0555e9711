// The phases in order, and the small things they share.
#include "topology/probe/machine_probe.hpp"

namespace weft::topology {

int node_at_or_above(MachineProbe& probe, int object) {
  for (; object >= 0; object = probe.tree.at(object).parent)
    if (const int node = probe.node_of_object(object); node >= 0) return node;
  return probe.builder.machine_id();
}

int home_of(MachineProbe& probe, int object) {
  while (object >= 0 && !probe.tree.at(object).cpus) object = probe.tree.at(object).parent;
  if (object < 0) return probe.builder.machine_id();
  if (const std::optional<IndexSet>& nodes = probe.tree.at(object).nodes; nodes && nodes->count() == 1)
    if (const int numa = probe.tree.numa(nodes->first()); numa >= 0 && probe.node_of_object(numa) >= 0)
      return probe.node_of_object(numa);
  return node_at_or_above(probe, object);
}

void take_cpus(MachineProbe& probe, const std::optional<IndexSet>& cpus, Node& node) {
  if (!cpus) return;
  node.cpus = cpus->list();
  if (const int cores = probe.tree.cores_inside(*cpus); cores > 0) node.cores = cores;
}

Status run_phases(MachineProbe& probe) {
  for (auto phase : {probe_cpu, probe_memory, probe_cores, probe_pci, probe_os_devices, probe_network, probe_gpu_links,
                     probe_amd_xgmi})
    phase(probe);
  return probe.graph.check();
}

}  // namespace weft::topology
