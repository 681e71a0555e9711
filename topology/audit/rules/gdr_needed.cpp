// gdr.needed: the job asks for what only GPUDirect RDMA gives (NVSHMEM's IBGDA, NCCL's GDR levels), and this host
// cannot do it.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>

#include "topology/audit/audit.hpp"
#include "topology/audit/gpu_direct.hpp"

namespace weft::topology::audit {
namespace {

struct Asking {
  std::string_view name;
  std::string_view off;  // the value that does not ask
};
constexpr std::array<Asking, 4> kAsking = {{{"NVSHMEM_IB_ENABLE_IBGDA", "0"},
                                            {"NVSHMEM_IBGDA_NIC_HANDLER", "cpu"},
                                            {"NCCL_NET_GDR_LEVEL", "LOC"},
                                            {"NCCL_GDRCOPY_ENABLE", "0"}}};

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    const GpuDirect state = gpu_direct(facts);
    if (!wants_gpu_direct(input, host) || (state != GpuDirect::Missing && state != GpuDirect::Unregistered)) continue;
    for (const Asking& asking : kAsking) {
      const std::optional<std::string_view> value = facts.variable(asking.name);
      if (!value || *value == asking.off || *value == "0") continue;
      report.add(self, input.on(host, asking.name),
                 fmt::format("is {}, but nvidia_peermem is {} and DMA-BUF is not possible", *value,
                             state == GpuDirect::Missing ? "not loaded" : "not registered"));
    }
  }
}

}  // namespace

extern const Rule gdr_needed;
const Rule gdr_needed = {
    .id = "gdr.needed",
    .severity = Severity::Error,
    .summary = "the environment asks for GPUDirect RDMA that the host cannot do",
    .silent = "hosts where it is possible or not known; variables that do not ask for it",
    .fix = "modprobe nvidia-peermem, or install the open kernel modules; or take the variable away",
    .reference = "NVIDIA/nvshmem#51",
    .check = check,
};

}  // namespace weft::topology::audit
