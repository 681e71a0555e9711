// affinity.unbound: a launcher started several ranks on the host and bound none: the kernel may move them to the far
// socket.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "topology/audit/affinity.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/cpu_set.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    const std::optional<std::string>& allowed = facts.process.allowed_cpus;
    if (!allowed || !is_local_rank(facts) || accelerators(input, host).size() < 2) continue;
    const std::vector<int> numas = numas_with_cpus(input.locality, host);
    const bool everywhere = std::all_of(
        numas.begin(), numas.end(), [&](int numa) { return cpus_inside(input.locality.node(numa).cpus, *allowed); });
    if (numas.size() < 2 || !everywhere) continue;
    report.add(self, input.on(host, "this process"),
               fmt::format("a rank of a launcher may run on all CPUs ({}) of {} NUMA nodes", *allowed, numas.size()));
  }
}

}  // namespace

extern const Rule affinity_unbound;
const Rule affinity_unbound = {
    .id = "affinity.unbound",
    .severity = Severity::Info,
    .summary = "ranks of a launcher are not bound",
    .silent = "processes without a launcher (LOCAL_RANK and the like); one NUMA node; hosts with one GPU",
    .fix =
        "bind each rank to the CPUs of its GPU: topo-probe --bindings writes the lines for numactl, mpirun and "
        "torchrun",
    .reference = "pytorch/pytorch#115305, pytorch/pytorch#148689",
    .check = check,
};

}  // namespace weft::topology::audit
