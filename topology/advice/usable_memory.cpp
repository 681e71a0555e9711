// What a cgroup leaves of the memory nodes, and what has memory at all.
#include "topology/advice/usable_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "topology/cpu_set.hpp"

namespace weft::topology::advice {

UsableMemory::UsableMemory(const Survey& survey, Locality& locality, int host) : locality_(locality), host_(host) {
  const HostFacts& facts = survey.facts(host);
  const std::optional<std::string>& told =
      facts.process.allowed_memories ? facts.process.allowed_memories : facts.container.cgroup_memories;
  if (told && !parse_cpu_list(*told).empty()) allowed_ = cpus_of(*told);
}

std::string UsableMemory::obstacle(int numa) const {
  const Node& node = locality_.node(numa);
  if (node.memory_bytes == 0) return "has no memory";
  if (allowed_ && node.os_index && !std::binary_search(allowed_->begin(), allowed_->end(), *node.os_index))
    return "may not be used here";
  return "";
}

int UsableMemory::nearest(int numa) const {
  std::vector<int> others;
  for (int other : locality_.numas(host_)) {
    const Node& node = locality_.node(other);
    if (other != numa && node.os_index && !node.cpus.empty() && obstacle(other).empty()) others.push_back(other);
  }
  const std::vector<Path> paths = locality_.finder().best_paths(numa, others);
  const int package = ancestor_of(locality_.graph(), numa, NodeKind::Package);
  const auto distance = [&](std::size_t i) {
    const Node& node = locality_.node(others[i]);
    return std::tuple(ancestor_of(locality_.graph(), node.id, NodeKind::Package) != package,
                      latency_ps(paths[i].latency_us),
                      std::abs(*node.os_index - locality_.node(numa).os_index.value_or(0)));
  };
  int nearest = -1;
  std::size_t best = 0;
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (nearest >= 0 && distance(i) >= distance(best)) continue;
    nearest = others[i];
    best = i;
  }
  return nearest;
}

}  // namespace weft::topology::advice
