// kernel.iommu_translating: the IOMMU translates addresses of GPUs and NICs on bare metal: peer-to-peer is slow, or its
// data never arrives.
#include <fmt/format.h>

#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/audit/iommu.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const KernelFacts& kernel = input.facts(host).kernel;
    const std::vector<int> gpus = accelerators(input, host);
    const std::vector<int> nics = usable_nics(input, host);
    if (gpus.empty() || gpus.size() + nics.size() < 2) continue;
    if (virtual_machine(input, host) != false || !is_translated(kernel)) continue;
    std::vector<int> all = gpus;
    all.insert(all.end(), nics.begin(), nics.end());
    report.add(
        self, input.on(host, "IOMMU"),
        fmt::format("its default domain is {} on bare metal, with {} that can copy to each other",
                    kernel.iommu_type.value_or("DMA by the kernel's command line"), names_of(input.locality, all)));
  }
}

}  // namespace

extern const Rule kernel_iommu_translating;
const Rule kernel_iommu_translating = {
    .id = "kernel.iommu_translating",
    .severity = Severity::Error,
    .summary = "the IOMMU translates for devices that do peer-to-peer",
    .silent =
        "virtual machines; passthrough (iommu=pt); machines with fewer than two GPUs and fabric NICs together; where "
        "it is not known whether the machine is virtual",
    .fix = "boot with iommu=pt (or intel_iommu=off, amd_iommu=off), then verify with a peer-to-peer copy check",
    .reference = "NVIDIA/nccl#257",
    .check = check,
};

}  // namespace weft::topology::audit
