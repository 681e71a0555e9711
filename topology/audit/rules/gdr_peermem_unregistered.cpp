// gdr.peermem_unregistered: nvidia_peermem is loaded, but is no client of the RDMA core that runs: it was built against
// another one.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/gpu_direct.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    if (!wants_gpu_direct(input, host) || gpu_direct(input.facts(host)) != GpuDirect::Unregistered) continue;
    const std::vector<std::string>& clients = *input.facts(host).kernel.peer_memory_clients;
    report.add(self, input.on(host, "nvidia_peermem"),
               fmt::format("is loaded, but /sys/kernel/mm/memory_peers has {}",
                           clients.empty() ? std::string("no client") : names_of(clients)));
  }
}

}  // namespace

extern const Rule gdr_peermem_unregistered;
const Rule gdr_peermem_unregistered = {
    .id = "gdr.peermem_unregistered",
    .severity = Severity::Error,
    .summary = "nvidia_peermem is loaded but not registered",
    .silent = "the open driver with DMA-BUF; where ib_core does not list its clients (without MLNX_OFED)",
    .fix =
        "install the driver again after OFED, so that nvidia_peermem is built against the running ib_core; or use "
        "DMA-BUF",
    .reference = "NVIDIA/nccl#1537, NVIDIA/nccl#1939",
    .check = check,
};

}  // namespace weft::topology::audit
