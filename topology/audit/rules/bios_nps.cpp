// bios.nps: one NUMA node per socket on an EPYC whose GPUs reach their NICs through the CPU. A socket is four
// quadrants, and traffic that crosses them is slower.
//
// Where GPU and NIC share a switch the setting does not matter for them; AMD's guides for Instinct ask for NPS1.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

bool through_cpu(const Input& input, int gpu) {
  const std::vector<int> nics = input.locality.nearest_nics(gpu);
  return nics.empty() || input.locality.device_path(gpu, nics.front()).path_class >= PathClass::Phb;
}

void check(const Rule& self, const Input& input, Report& report) {
  constexpr std::size_t kManyGpus = 4;
  for (int host = 0; host < input.hosts(); ++host) {
    const std::size_t packages = input.locality.packages(host).size();
    if (virtual_machine(input, host) != false || cpu_model(input, host).find("EPYC") == std::string_view::npos)
      continue;
    if (packages == 0 || numas_with_cpus(input.locality, host).size() != packages) continue;
    std::vector<int> gpus = accelerators(input, host);
    std::erase_if(gpus, [&](int gpu) { return !is_nvidia(input, gpu) || !through_cpu(input, gpu); });
    if (gpus.size() < kManyGpus) continue;
    report.add(self, input.on(host, "NUMA nodes per socket"),
               fmt::format("1 (NPS1) on {}, and {} GPUs have no NIC below their own switch", cpu_model(input, host),
                           gpus.size()));
  }
}

}  // namespace

extern const Rule bios_nps;
const Rule bios_nps = {
    .id = "bios.nps",
    .severity = Severity::Info,
    .summary = "EPYC with one NUMA node per socket, and GPU traffic through the CPU",
    .silent =
        "GPUs and NICs below one switch; AMD GPUs; virtual machines and clouds; fewer than 4 GPUs; where it is not "
        "known that the machine is bare metal",
    .fix =
        "try NPS4 in the BIOS (NUMA nodes per socket), with the IOMMU setting of the platform's guide; measure before "
        "and after",
    .reference = "NVIDIA/nccl#1285",
    .check = check,
};

}  // namespace weft::topology::audit
