// affinity.remote_pages: part of the process's memory is on other NUMA nodes than its CPUs: it was touched before the
// process was bound.
#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/cpu_set.hpp"

namespace weft::topology::audit {
namespace {

// NUMA nodes of the process's CPUs, by os index; empty if it may run on all of them.
std::set<int> own_nodes(const Input& input, int host, const std::string& allowed) {
  std::set<int> own;
  const std::vector<int> numas = numas_with_cpus(input.locality, host);
  for (int numa : numas) {
    const Node& node = input.locality.node(numa);
    if (node.os_index && !common_cpus(allowed, node.cpus).empty()) own.insert(*node.os_index);
  }
  return own.size() == numas.size() ? std::set<int>() : own;
}

void check(const Rule& self, const Input& input, Report& report) {
  constexpr std::uint64_t kPages = (std::uint64_t{64} << 20) / 4096;
  for (int host = 0; host < input.hosts(); ++host) {
    const ProcessFacts& process = input.facts(host).process;
    if (!process.allowed_cpus || process.resident.empty()) continue;
    const std::set<int> own = own_nodes(input, host, *process.allowed_cpus);
    if (own.empty()) continue;
    std::uint64_t all = 0;
    std::uint64_t far = 0;
    int far_node = -1;
    for (const ResidentPages& on : process.resident) {
      all += on.pages;
      if (own.contains(on.numa)) continue;
      far += on.pages;
      if (on.pages > 0) far_node = on.numa;
    }
    if (all < kPages) continue;
    const double percent = 100 * static_cast<double>(far) / static_cast<double>(all);
    if (percent >= input.site.thresholds.remote_pages_percent && far_node >= 0)
      report.add(self, input.on(host, "this process"),
                 fmt::format("{:.0f}% of {} MiB are on far nodes (node {}), its CPUs on node {}", percent,
                             all * 4096 >> 20, far_node, *own.begin()));
  }
}

}  // namespace

extern const Rule affinity_remote_pages;
const Rule affinity_remote_pages = {
    .id = "affinity.remote_pages",
    .severity = Severity::Warning,
    .summary = "memory of the process is on far NUMA nodes",
    .silent = "less than the site's threshold; less than 64 MiB in all; processes that may run on all nodes",
    .fix = "bind before anything is allocated (in the launcher), or move the pages (migratepages)",
    .reference = "NVIDIA/TensorRT-LLM#18117",
    .check = check,
};

}  // namespace weft::topology::audit
