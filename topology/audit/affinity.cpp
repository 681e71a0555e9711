// Where the process that looks may run.
#include "topology/audit/affinity.hpp"

#include <algorithm>
#include <array>

#include "topology/audit/host_view.hpp"
#include "topology/cpu_set.hpp"
#include "topology/gpu_order.hpp"

namespace weft::topology::audit {
namespace {

constexpr std::array<std::string_view, 5> kLocalRank = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                                        "SLURM_LOCALID", "PMI_LOCAL_RANK"};

}  // namespace

std::vector<int> visible_gpus(const Input& input, int host) {
  return topology::visible_gpus(input.survey, host, accelerators(input, host)).order.gpus;
}

std::vector<Binding> bindings_of(const Input& input, int host) {
  std::vector<Binding> bindings;
  const std::optional<std::string>& allowed = input.facts(host).process.allowed_cpus;
  if (!allowed || parse_cpu_list(*allowed).empty() || numas_with_cpus(input.locality, host).size() < 2) return bindings;
  std::size_t all = 0;
  for (int numa : numas_with_cpus(input.locality, host)) all += count_cpus(input.locality.node(numa).cpus);
  for (int gpu : visible_gpus(input, host)) {
    std::string local = local_cpus(input, gpu);
    const std::size_t count = count_cpus(local);
    if (count == 0 || count >= all) continue;
    std::string common = common_cpus(*allowed, local);
    bindings.push_back({gpu, std::move(local), std::move(common)});
  }
  return bindings;
}

bool is_local_rank(const HostFacts& facts) {
  return std::any_of(kLocalRank.begin(), kLocalRank.end(),
                     [&](std::string_view name) { return facts.variable(name).has_value(); });
}

}  // namespace weft::topology::audit
