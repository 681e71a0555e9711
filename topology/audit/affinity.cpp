// Where the process that looks may run.
#include "topology/audit/affinity.hpp"

#include <algorithm>
#include <array>

#include "base/parse.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/cpu_set.hpp"

namespace weft::topology::audit {
namespace {

constexpr std::array<std::string_view, 3> kVisible = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                                      "HIP_VISIBLE_DEVICES"};
constexpr std::array<std::string_view, 5> kLocalRank = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                                        "SLURM_LOCALID", "PMI_LOCAL_RANK"};

// The numbers of a list; nothing if one of them is no number of these GPUs.
std::optional<std::vector<int>> chosen(std::string_view list, const std::vector<int>& gpus) {
  std::vector<int> found;
  for (std::string_view word : base::split(list, ',')) {
    const std::optional<int> index = base::parse_integer(word);
    if (!index || *index < 0 || static_cast<std::size_t>(*index) >= gpus.size()) return std::nullopt;
    found.push_back(gpus[static_cast<std::size_t>(*index)]);
  }
  return found;
}

}  // namespace

std::vector<int> visible_gpus(const Input& input, int host) {
  std::vector<int> gpus = accelerators(input, host);
  for (std::string_view name : kVisible)
    if (const auto set = input.facts(host).variable(name); set && !set->empty())
      if (std::optional<std::vector<int>> some = chosen(*set, gpus)) return *some;
  return gpus;
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
