// Phase memory: NUMA nodes, also those without cores (the memory of a GPU).
#include "topology/probe/machine_probe.hpp"

namespace weft::topology {
namespace {

// The package above it, or the only one with all its CPUs: hwloc 1 has packages inside NUMA nodes.
int home_of_memory(MachineProbe& probe, const Object& numa) {
  const int above = node_at_or_above(probe, numa.parent);
  if (above != probe.builder.machine_id() || !numa.cpus || numa.cpus->empty()) return above;
  for (int package : probe.tree.all(ObjectKind::Package))
    if (const std::optional<IndexSet>& cpus = probe.tree.at(package).cpus; cpus && cpus->contains(*numa.cpus))
      return probe.node_of_object(package);
  return above;
}

}  // namespace

void probe_memory(MachineProbe& probe) {
  for (int object : probe.tree.all(ObjectKind::Numa)) {
    const Object& numa = probe.tree.at(object);
    const int id = probe.builder.numa(home_of_memory(probe, numa), numa.index());
    Node& node = probe.node(id);
    node.name = probe.unique_name(node.name);
    if (numa.memory_bytes > 0) node.memory_bytes = numa.memory_bytes;
    take_cpus(probe, numa.cpus, node);
    probe.node_of_object(object) = id;
  }
}

}  // namespace weft::topology
