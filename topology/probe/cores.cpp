// Phase cores: core groups, the cores of a NUMA node that share a level-3 cache; all its cores where no such cache is
// known.
#include <set>
#include <string>
#include <vector>

#include "topology/probe/machine_probe.hpp"

namespace weft::topology {
namespace {

constexpr int kMaxCoreGroups = 2048;  // several times those of the largest machines

// The parts of `numa` that share a cache; `numa` itself if none is known.
std::vector<IndexSet> groups_of(const ObjectTree& tree, const IndexSet& numa) {
  std::vector<IndexSet> groups;
  for (int object : tree.all(ObjectKind::L3Cache)) {
    const std::optional<IndexSet>& cache = tree.at(object).cpus;
    if (cache && cache->intersects(numa)) groups.push_back(*cache & numa);
  }
  if (groups.empty()) groups.push_back(numa);
  return groups;
}

void add_group(MachineProbe& probe, int parent, int index, const IndexSet& set) {
  const int id = probe.builder.core_group(parent, index);
  Node& node = probe.node(id);
  node.name = probe.unique_name(node.name);
  take_cpus(probe, set, node);
}

}  // namespace

void probe_cores(MachineProbe& probe) {
  int index = 0;
  std::set<std::string> seen;  // several memories may lie at the same cores: the first has the core groups
  for (int object : probe.tree.all(ObjectKind::Numa)) {
    const std::optional<IndexSet>& cpus = probe.tree.at(object).cpus;
    if (!cpus || cpus->empty() || !seen.insert(cpus->list()).second) continue;
    for (const IndexSet& group : groups_of(probe.tree, *cpus)) {
      if (index == kMaxCoreGroups) return;
      add_group(probe, probe.node_of_object(object), index++, group);
    }
  }
}

}  // namespace weft::topology
