// One CPU of each core.
#include "topology/measure/cpus.hpp"

#include <algorithm>
#include <optional>

#include "topology/advice/share_cores.hpp"
#include "topology/cpu_set.hpp"

namespace weft::topology {

std::vector<int> measuring_cpus(const Survey& survey, const Node& node) {
  const HostFacts& facts = survey.facts(0);
  std::optional<std::vector<int>> allowed;
  if (facts.process.allowed_cpus) allowed = cpus_of(*facts.process.allowed_cpus);
  std::vector<int> cpus;
  advice::CpuPlace place{facts.shared_cores, node.cores, {}};
  advice::Cores found = advice::cores_of(cpus_of(node.cpus), place);
  if (found.threads == advice::Threads::Unknown) {
    place.shared_cores.emplace();  // as if no core had several: any CPU may be the only one of its core
    found = advice::cores_of(cpus_of(node.cpus), place);
  }
  for (const advice::Core& core : found.cores) {
    const auto first = std::find_if(core.begin(), core.end(), [&](int cpu) {
      return !allowed || std::binary_search(allowed->begin(), allowed->end(), cpu);
    });
    if (first != core.end()) cpus.push_back(*first);
  }
  return cpus;
}

}  // namespace weft::topology
