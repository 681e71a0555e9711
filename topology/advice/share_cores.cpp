// Shares of cores.
#include "topology/advice/share_cores.hpp"

#include <algorithm>
#include <map>

#include "topology/cpu_set.hpp"

namespace weft::topology::advice {
namespace {

std::vector<Core> by_siblings(const std::vector<int>& cpus, const std::vector<std::string>& shared_cores) {
  std::map<int, int> first_of;  // CPU -> first CPU of its core
  for (const std::string& list : shared_cores) {
    const std::vector<int> siblings = cpus_of(list);
    for (int cpu : siblings) first_of[cpu] = siblings.front();
  }
  std::map<int, Core> cores;
  for (int cpu : cpus) {
    const auto found = first_of.find(cpu);
    cores[found == first_of.end() ? cpu : found->second].push_back(cpu);
  }
  std::vector<Core> result;
  for (auto& [first, core] : cores) result.push_back(std::move(core));
  return result;
}

}  // namespace

std::vector<Core> cores_of(const std::vector<int>& cpus, const std::optional<std::vector<std::string>>& shared_cores,
                           std::optional<int> cores) {
  if (shared_cores) return by_siblings(cpus, *shared_cores);
  std::vector<Core> result;
  const std::size_t count = cores && *cores > 0 ? static_cast<std::size_t>(*cores) : cpus.size();
  const bool threads = count > 0 && cpus.size() > count && cpus.size() % count == 0;
  if (!threads) {
    for (int cpu : cpus) result.push_back({cpu});
    return result;
  }
  for (std::size_t i = 0; i < count; ++i) {
    Core core;
    for (std::size_t at = i; at < cpus.size(); at += count) core.push_back(cpus[at]);
    result.push_back(std::move(core));
  }
  return result;
}

std::vector<std::string> share_evenly(const std::vector<Core>& cores, std::size_t parts) {
  std::vector<std::string> shares;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t first = part * cores.size() / parts;
    const std::size_t last = std::max((part + 1) * cores.size() / parts, first + 1);
    std::vector<int> cpus;
    for (std::size_t i = first; i < last && i < cores.size(); ++i)
      cpus.insert(cpus.end(), cores[i].begin(), cores[i].end());
    shares.push_back(cpu_list(std::move(cpus)));
  }
  return shares;
}

}  // namespace weft::topology::advice
