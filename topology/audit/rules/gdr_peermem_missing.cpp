// gdr.peermem_missing: GPUDirect RDMA is not possible, so data goes through host memory at a fraction of the rate.
//
// An error where it is sure: the driver cannot export DMA-BUF, or another host of the cluster has the module. A warning
// where the driver may have DMA-BUF.
#include <fmt/format.h>

#include <string>

#include "topology/audit/audit.hpp"
#include "topology/audit/gpu_direct.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  int good = -1;
  for (int host = 0; host < input.hosts() && good < 0; ++host)
    if (gpu_direct(input.facts(host)) == GpuDirect::Possible) good = host;
  for (int host = 0; host < input.hosts(); ++host) {
    if (!wants_gpu_direct(input, host)) continue;
    const GpuDirect state = gpu_direct(input.facts(host));
    if (state != GpuDirect::Missing && state != GpuDirect::Perhaps) continue;
    const KernelFacts& kernel = input.facts(host).kernel;
    const std::string_view buffers =
        state == GpuDirect::Missing ? "and DMA-BUF is not possible" : "and whether the driver has DMA-BUF is not known";
    const bool sure = state == GpuDirect::Missing || good >= 0;
    report.add(
        self, sure ? Severity::Error : Severity::Warning, input.on(host, "nvidia_peermem"),
        fmt::format("is not loaded, {} (driver {}, kernel {}){}", buffers,
                    kernel.nvidia_driver.value_or("of unknown version"), kernel.version.value_or("of unknown version"),
                    good >= 0 ? fmt::format("; {} can do GPUDirect RDMA", host_name(input, good)) : ""));
  }
}

}  // namespace

extern const Rule gdr_peermem_missing;
const Rule gdr_peermem_missing = {
    .id = "gdr.peermem_missing",
    .severity = Severity::Error,
    .summary = "no GPUDirect RDMA: nvidia_peermem is not loaded",
    .silent =
        "the open driver with kernel 5.12 or later (DMA-BUF); EFA and Slingshot, which have their own ways; AMD GPUs; "
        "where the NVIDIA driver is not loaded",
    .fix =
        "modprobe nvidia-peermem (and /etc/modules-load.d to keep it), or install the open kernel modules for DMA-BUF",
    .reference = "NVIDIA/nccl#1412",
    .check = check,
};

}  // namespace weft::topology::audit
