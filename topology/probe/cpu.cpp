// Phase cpu: the machine and its packages.
#include <algorithm>

#include "topology/probe/machine_probe.hpp"
#include "topology/read_file.hpp"

namespace weft::topology {
namespace {

std::string info_of(hwloc_obj_t object, const char* name) {
  const char* value = hwloc_obj_get_info_by_name(object, name);
  std::string text = value != nullptr ? value : "";
  text.erase(text.find_last_not_of(" \t\n") + 1);  // processors pad their names
  return text;
}

int os_index_of(hwloc_obj_t object) {
  return object->os_index != HWLOC_UNKNOWN_INDEX ? static_cast<int>(object->os_index)
                                                 : static_cast<int>(object->logical_index);
}

// hwloc names a recorded tree after the machine that reads it.
std::string host_name(const MachineProbe& probe, hwloc_obj_t root) {
  const bool recorded = !probe.root.empty() && probe.root != "/";
  const std::string name =
      recorded ? read_attribute(probe.root + "/proc/sys/kernel/hostname").value_or("") : info_of(root, "HostName");
  return name.empty() ? "machine" : name;
}

}  // namespace

void probe_cpu(MachineProbe& probe) {
  const hwloc_obj_t root = hwloc_get_root_obj(probe.hwloc);
  const std::string host = host_name(probe, root);
  probe.builder.machine(probe.unique_name(host));
  probe.graph.name = host;
  Node& machine = probe.node(probe.builder.machine_id());
  machine.cpus = cpu_list(root->cpuset);
  machine.model = info_of(root, "DMIProductName");
  if (const int cores = cores_inside(probe.hwloc, root->cpuset); cores > 0) machine.cores = cores;
  probe.node_of[root] = machine.id;
  for (hwloc_obj_t package = nullptr;
       (package = hwloc_get_next_obj_by_type(probe.hwloc, HWLOC_OBJ_PACKAGE, package)) != nullptr;) {
    std::string model = info_of(package, "CPUModel");
    if (model.empty()) model = info_of(root, "CPUModel");
    const int id = probe.builder.package(os_index_of(package), std::move(model));
    Node& node = probe.node(id);
    node.name = probe.unique_name(node.name);
    node.cpus = cpu_list(package->cpuset);
    if (const int cores = cores_inside(probe.hwloc, package->cpuset); cores > 0) node.cores = cores;
    probe.node_of[package] = id;
  }
  probe.builder.join_packages();
}

}  // namespace weft::topology
