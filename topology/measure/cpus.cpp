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
  advice::Cores found = advice::cores_of(cpus_of(node.cpus), {facts.shared_cores, node.cores, {}});
  if (found.threads == advice::Threads::Unknown) found.cores = advice::one_by_one(cpus_of(node.cpus));
  for (const advice::Core& core : found.cores) {
    const auto first = std::find_if(core.begin(), core.end(), [&](int cpu) {
      return !allowed || std::binary_search(allowed->begin(), allowed->end(), cpu);
    });
    if (first != core.end()) cpus.push_back(*first);
  }
  return cpus;
}

}  // namespace weft::topology
