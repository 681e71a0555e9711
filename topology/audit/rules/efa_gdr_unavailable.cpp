// efa.gdr_unavailable: EFA that could read and write GPU memory is told not to, or has no module for it.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/gpu_direct.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

bool has_way(const HostFacts& facts) {
  const KernelFacts& kernel = facts.kernel;
  return !has_module(kernel, "nvidia") || !has_module(kernel, "efa") || has_module(kernel, "efa_nv_peermem") ||
         has_module(kernel, "nvidia_peermem") || !kernel.nvidia_open || *kernel.nvidia_open;
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    std::vector<int> nics = usable_nics(input, host);
    std::erase_if(nics, [&](int nic) {
      const Node& node = input.locality.node(nic);
      return !is_efa(node) || node.device == "1d0f:efa0";
    });
    if (nics.empty() || accelerators(input, host).empty()) continue;
    const std::string subject = input.on(host, names_of(input.locality, nics));
    if (facts.variable("FI_EFA_USE_DEVICE_RDMA") == "0")
      report.add(self, subject, "FI_EFA_USE_DEVICE_RDMA=0 turns GPUDirect RDMA off");
    else if (!has_way(facts))
      report.add(self, Severity::Warning, subject,
                 fmt::format("neither efa_nv_peermem nor nvidia_peermem is loaded, and driver {} is not the open one",
                             facts.kernel.nvidia_driver.value_or("of NVIDIA")));
  }
}

}  // namespace

extern const Rule efa_gdr_unavailable;
const Rule efa_gdr_unavailable = {
    .id = "efa.gdr_unavailable",
    .severity = Severity::Error,
    .summary = "EFA cannot reach GPU memory",
    .silent =
        "instances without GPUs; the first EFA generation, which cannot do it; where modules and environment are not "
        "known",
    .fix =
        "export FI_EFA_USE_DEVICE_RDMA=1 (or unset it), and install the EFA driver with its efa_nv_peermem, or the "
        "open NVIDIA driver",
    .reference = "aws/aws-ofi-nccl#889",
    .check = check,
};

}  // namespace weft::topology::audit
