// Phase memory: NUMA nodes, also those without cores (the memory of a GPU).
#include "topology/probe/machine_probe.hpp"

namespace weft::topology {
namespace {

int package_of(MachineProbe& probe, hwloc_obj_t numa) {
  for (hwloc_obj_t at = numa->parent; at != nullptr; at = at->parent)
    if (const auto found = probe.node_of.find(at); found != probe.node_of.end()) return found->second;
  return probe.builder.machine_id();
}

}  // namespace

void probe_memory(MachineProbe& probe) {
  for (hwloc_obj_t numa = nullptr;
       (numa = hwloc_get_next_obj_by_type(probe.hwloc, HWLOC_OBJ_NUMANODE, numa)) != nullptr;) {
    const int index = numa->os_index != HWLOC_UNKNOWN_INDEX ? static_cast<int>(numa->os_index)
                                                            : static_cast<int>(numa->logical_index);
    const int id = probe.builder.numa(package_of(probe, numa), index);
    Node& node = probe.node(id);
    node.name = probe.unique_name(node.name);
    node.cpus = cpu_list(numa->cpuset);
    if (numa->attr->numanode.local_memory > 0) node.memory_bytes = numa->attr->numanode.local_memory;
    if (const int cores = cores_inside(probe.hwloc, numa->cpuset); cores > 0) node.cores = cores;
    probe.node_of[numa] = id;
  }
}

}  // namespace weft::topology
