// Environment: the variables that say how collectives, networks and bindings are set up. Others may hold secrets and
// are left alone.
#include <algorithm>
#include <array>
#include <utility>

#include "topology/facts/parsers.hpp"
#include "topology/facts/readers.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxVariables = 1024;
constexpr std::size_t kMaxValue = 4096;

constexpr std::string_view kPrefixes[] = {
    "NCCL_",    "RCCL_",       "UCX_",  "UCC_", "FI_",   "OMPI_MCA_",      "MLX5_",          "RDMAV_",   "IBV_",
    "NVSHMEM_", "TORCH_NCCL_", "GLOO_", "HSA_", "WEFT_", "SLURM_CPU_BIND", "SLURM_MEM_BIND", "SLURM_GPU"};
constexpr std::string_view kNames[] = {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",    "NVIDIA_VISIBLE_DEVICES",
                                       "HIP_VISIBLE_DEVICES",  "ROCR_VISIBLE_DEVICES", "OMP_NUM_THREADS",
                                       "OMP_PROC_BIND",        "OMP_PLACES",           "KMP_AFFINITY",
                                       "GOMP_CPU_AFFINITY",    "MPICH_OFI_NIC_POLICY", "MPICH_GPU_SUPPORT_ENABLED",
                                       "LOCAL_RANK",           "LOCAL_WORLD_SIZE",     "OMPI_COMM_WORLD_LOCAL_RANK",
                                       "MPI_LOCALRANKID",      "SLURM_LOCALID",        "PMI_LOCAL_RANK"};

bool is_relevant(std::string_view name) {
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

base::Environment parse_environment(std::string_view environ) {
  base::Environment::Variables variables;
  while (!environ.empty()) {
    const std::string_view entry = environ.substr(0, std::min(environ.find('\0'), environ.size()));
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos && equals > 0)
      variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    environ.remove_prefix(std::min(entry.size() + 1, environ.size()));
  }
  return base::Environment(std::move(variables));
}

std::optional<base::Environment> read_environment(const Tree& tree) {
  if (tree.live()) return base::Environment::of_process();
  const std::optional<std::string> text = tree.text("proc/self/environ");
  if (!text) return std::nullopt;
  return parse_environment(*text);
}

std::vector<Variable> relevant_variables(const base::Environment& environment) {
  std::vector<Variable> relevant;
  for (const std::string_view name : environment.names_with_prefix("")) {
    if (relevant.size() == kMaxVariables) break;
    if (is_relevant(name))
      relevant.push_back({std::string(name), std::string(environment.get(name).value_or("").substr(0, kMaxValue))});
  }
  return relevant;
}

}  // namespace weft::topology
