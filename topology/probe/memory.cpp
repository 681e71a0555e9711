// Phase memory: NUMA nodes, also those without cores (the memory of a GPU).
#include <fmt/format.h>

#include "topology/facts/tree.hpp"
#include "topology/probe/machine_probe.hpp"
#include "topology/text.hpp"

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

// "Node 1 MemTotal:       0 kB": the kernel knows that there is none.
bool is_told_to_be_empty(const MachineProbe& probe, const Object& numa) {
  if (probe.root.empty()) return false;
  const auto text = Tree(probe.root).text(fmt::format("sys/devices/system/node/node{}/meminfo", numa.index()));
  return text && value_of(*text, fmt::format("Node {} MemTotal:", numa.index())) == "0 kB";
}

}  // namespace

void probe_memory(MachineProbe& probe) {
  for (int object : probe.tree.all(ObjectKind::Numa)) {
    const Object& numa = probe.tree.at(object);
    const int id = probe.builder.numa(home_of_memory(probe, numa), numa.index());
    Node& node = probe.node(id);
    node.name = probe.unique_name(node.name);
    node.memory_bytes = numa.memory_bytes;
    if (!node.memory_bytes && is_told_to_be_empty(probe, numa)) node.memory_bytes = 0;
    take_cpus(probe, numa.cpus, node);
    probe.node_of_object(object) = id;
  }
}

}  // namespace weft::topology
