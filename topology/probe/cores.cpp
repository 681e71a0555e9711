// Phase cores: core groups, the cores of a NUMA node that share a level-3 cache; all its cores where no such cache is
// known.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "topology/probe/machine_probe.hpp"

namespace weft::topology {
namespace {

using Bitmap = std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)>;

// The parts of `numa` that share a cache; `numa` itself if none is known.
std::vector<Bitmap> groups_of(hwloc_topology_t topology, hwloc_const_bitmap_t numa) {
  std::vector<Bitmap> groups;
  for (hwloc_obj_t cache = nullptr;
       (cache = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_L3CACHE, cache)) != nullptr;) {
    if (!hwloc_bitmap_intersects(cache->cpuset, numa)) continue;
    Bitmap part(hwloc_bitmap_alloc(), hwloc_bitmap_free);
    hwloc_bitmap_and(part.get(), cache->cpuset, numa);
    groups.push_back(std::move(part));
  }
  if (groups.empty()) groups.emplace_back(hwloc_bitmap_dup(numa), hwloc_bitmap_free);
  return groups;
}

void add_group(MachineProbe& probe, int parent, int index, hwloc_const_bitmap_t set) {
  const int id = probe.builder.core_group(parent, index);
  Node& node = probe.node(id);
  node.name = probe.unique_name(node.name);
  node.cpus = cpu_list(set);
  if (const int cores = cores_inside(probe.hwloc, set); cores > 0) node.cores = cores;
}

}  // namespace

void probe_cores(MachineProbe& probe) {
  int index = 0;
  std::set<std::string> seen;  // several memories may lie at the same cores: the first has the core groups
  for (hwloc_obj_t numa = nullptr;
       (numa = hwloc_get_next_obj_by_type(probe.hwloc, HWLOC_OBJ_NUMANODE, numa)) != nullptr;) {
    if (numa->cpuset == nullptr || hwloc_bitmap_iszero(numa->cpuset) || !seen.insert(cpu_list(numa->cpuset)).second)
      continue;
    for (const Bitmap& group : groups_of(probe.hwloc, numa->cpuset))
      add_group(probe, probe.node_of.at(numa), index++, group.get());
  }
}

}  // namespace weft::topology
