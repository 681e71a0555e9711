// pcie.p2p_unsafe: peer-to-peer copies between GPUs would be tried where they hang or give wrong data.
//
// Drivers before 525.105.17 say that GeForce RTX 40 cards can do it, which they cannot; and NCCL_P2P_LEVEL may force it
// through a root complex whose IOMMU translates.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/audit/iommu.hpp"

namespace weft::topology::audit {
namespace {

// GeForce RTX 4090, 4090 D, 4080, 4070 Ti, 4070 (PCI id repository).
constexpr std::array<std::string_view, 5> kWithoutPeers = {"10de:2684", "10de:2685", "10de:2704", "10de:2782",
                                                           "10de:2786"};

bool claims_peers(const KernelFacts& kernel) {
  int major = 0;
  int minor = 0;
  if (!kernel.nvidia_driver || std::sscanf(kernel.nvidia_driver->c_str(), "%d.%d", &major, &minor) != 2) return false;
  return major < 525 || (major == 525 && minor < 105);
}

bool forced_far(const HostFacts& facts) {
  const std::optional<std::string_view> level = facts.variable("NCCL_P2P_LEVEL");
  return level && (*level == "SYS" || *level == "NODE" || *level == "PHB");
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    std::vector<int> gpus = accelerators(input, host);
    if (gpus.size() < 2 || facts.variable("NCCL_P2P_DISABLE") == "1") continue;
    if (input.locality.device_path(gpus[0], gpus[1]).path_class == PathClass::Nvl) continue;
    if (forced_far(facts) && is_translated(facts.kernel) && virtual_machine(input, host) == false)
      report.add(self, self.severity, input.on(host, "NCCL_P2P_LEVEL"),
                 fmt::format("{} forces peer-to-peer of {} GPUs through the CPU, where the IOMMU translates ({})",
                             *facts.variable("NCCL_P2P_LEVEL"), gpus.size(),
                             facts.kernel.iommu_type.value_or("by the command line")),
                 "unset NCCL_P2P_LEVEL, or boot with iommu=pt");
    std::erase_if(gpus, [&](int gpu) {
      const std::string& device = input.locality.node(gpu).device;
      return std::find(kWithoutPeers.begin(), kWithoutPeers.end(), device) == kWithoutPeers.end();
    });
    if (gpus.size() >= 2 && claims_peers(facts.kernel))
      report.add(self, input.on(host, names_of(input.locality, gpus)),
                 fmt::format("driver {} says that these cards can copy to each other, which they cannot",
                             *facts.kernel.nvidia_driver));
  }
}

}  // namespace

extern const Rule pcie_p2p_unsafe;
const Rule pcie_p2p_unsafe = {
    .id = "pcie.p2p_unsafe",
    .severity = Severity::Error,
    .summary = "peer-to-peer between GPUs is on where it hangs or corrupts",
    .silent = "one GPU; later drivers; NCCL_P2P_DISABLE=1; NVLink between the GPUs",
    .fix = "export NCCL_P2P_DISABLE=1, or install driver 525.105.17 or later",
    .reference = "NVIDIA/nccl-tests#117",
    .check = check,
};

}  // namespace weft::topology::audit
