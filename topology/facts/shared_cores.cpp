// Which CPUs are threads of one core.
#include <set>
#include <utility>

#include "topology/cpu_set.hpp"
#include "topology/facts/readers.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxCpus = 8192;

}  // namespace

void read_shared_cores(const FactsSource& source, HostFacts& host) {
  const std::optional<std::string> online = source.tree.attribute("sys/devices/system/cpu/online");
  if (!online) return;
  std::set<std::pair<int, std::string>> cores;
  bool known = false;
  std::set<int> seen;
  for (int cpu : cpus_of(*online)) {
    if (seen.size() > kMaxCpus) return;
    if (seen.contains(cpu)) continue;
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    std::optional<std::string> list = source.tree.attribute(folder + "core_cpus_list");
    if (!list) list = source.tree.attribute(folder + "thread_siblings_list");  // kernels before 5.3
    if (!list) continue;
    known = true;
    const std::vector<int> cpus = cpus_of(*list);
    seen.insert(cpus.begin(), cpus.end());
    if (cpus.size() > 1) cores.emplace(cpus.front(), cpu_list(cpus));
  }
  if (!known) return;
  host.shared_cores.emplace();
  for (const auto& [first, list] : cores) host.shared_cores->push_back(list);
}

}  // namespace weft::topology
