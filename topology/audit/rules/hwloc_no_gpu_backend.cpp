// hwloc.no_gpu_backend: an hwloc dump that knows GPUs by their PCI ids only, made by an hwloc without CUDA, NVML or
// ROCm: NVLinks, XGMI and models are missing from it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/plural.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

bool has_backend(const Node& gpu) {
  constexpr std::array<std::string_view, 5> kBackends = {"cuda", "nvml", "rsmi", "opencl", "ze"};
  return std::any_of(gpu.names.begin(), gpu.names.end(), [&](const std::string& name) {
    return std::any_of(kBackends.begin(), kBackends.end(),
                       [&](std::string_view word) { return name.starts_with(word); });
  });
}

void check(const Rule& self, const Input& input, Report& report) {
  if (!input.survey.source.starts_with("hwloc")) return;
  for (int host = 0; host < input.hosts(); ++host) {
    const std::vector<int> gpus = accelerators(input, host);
    if (gpus.empty() ||
        std::any_of(gpus.begin(), gpus.end(), [&](int gpu) { return has_backend(input.locality.node(gpu)); }))
      continue;
    report.add(self, input.on(host, names_of(input.locality, gpus)),
               fmt::format("{} without an object of CUDA, NVML, ROCm or OpenCL: recognised by PCI id only",
                           base::plural(gpus.size(), "GPU")));
  }
}

}  // namespace

extern const Rule hwloc_no_gpu_backend;
const Rule hwloc_no_gpu_backend = {
    .id = "hwloc.no_gpu_backend",
    .severity = Severity::Info,
    .summary = "the hwloc dump knows GPUs only as PCI devices",
    .silent = "other sources; dumps with objects of CUDA, NVML, ROCm, OpenCL or Level Zero; graphics for screens",
    .fix = "make the dump with an hwloc that was built with NVML or ROCm SMI, or run topo-probe on the machine",
    .reference = "open-mpi/hwloc#365",
    .check = check,
};

}  // namespace weft::topology::audit
