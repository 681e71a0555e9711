// The phases in order, and the small things they share.
#include "topology/probe/machine_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

namespace weft::topology {

std::string MachineProbe::unique_name(std::string wanted) {
  for (char& c : wanted)
    if (c == '/' || static_cast<unsigned char>(c) < ' ') c = '-';
  if (wanted.empty()) wanted = "device";
  std::string name = wanted;
  for (int i = 2; !taken_names.insert(name).second; ++i) name = fmt::format("{}-{}", wanted, i);
  return name;
}

std::string cpu_list(hwloc_const_bitmap_t set) {
  if (set == nullptr || hwloc_bitmap_iszero(set)) return {};
  char* text = nullptr;
  if (hwloc_bitmap_list_asprintf(&text, set) < 0) return {};
  const std::unique_ptr<char, void (*)(void*)> owner(text, std::free);
  return text;
}

int cores_inside(hwloc_topology_t topology, hwloc_const_bitmap_t set) {
  const int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, set, HWLOC_OBJ_CORE);
  return cores > 0 ? cores : hwloc_get_nbobjs_inside_cpuset_by_type(topology, set, HWLOC_OBJ_PU);
}

int home_of(MachineProbe& probe, hwloc_obj_t object) {
  while (object != nullptr && object->cpuset == nullptr) object = object->parent;
  const int machine = probe.builder.machine_id();
  if (object == nullptr) return machine;
  if (object->nodeset != nullptr && hwloc_bitmap_weight(object->nodeset) == 1) {
    const auto index = static_cast<unsigned>(hwloc_bitmap_first(object->nodeset));
    const hwloc_obj_t numa = hwloc_get_numanode_obj_by_os_index(probe.hwloc, index);
    if (const auto found = probe.node_of.find(numa); found != probe.node_of.end()) return found->second;
  }
  for (; object != nullptr; object = object->parent)
    if (const auto found = probe.node_of.find(object); found != probe.node_of.end()) return found->second;
  return machine;
}

Result<Graph> run_phases(MachineProbe& probe) {
  for (auto phase : {probe_cpu, probe_memory, probe_cores, probe_pci, probe_os_devices, probe_network, probe_gpu_links})
    phase(probe);
  WEFT_TRY(probe.graph.check());
  return std::move(probe.graph);
}

}  // namespace weft::topology
