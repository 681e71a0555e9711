// GPUDirect RDMA, judged by modules, driver and kernel.
#include "topology/facts/gpu_direct.hpp"

#include <algorithm>
#include <cstdio>

namespace weft::topology {
namespace {

bool is_registered(const KernelFacts& kernel) {
  if (!kernel.peer_memory_clients) return true;  // ib_core does not tell
  return std::any_of(kernel.peer_memory_clients->begin(), kernel.peer_memory_clients->end(),
                     [](const std::string& name) { return name.starts_with("nv_mem"); });
}

}  // namespace

bool has_module(const KernelFacts& kernel, std::string_view name) {
  return kernel.modules && std::find(kernel.modules->begin(), kernel.modules->end(), name) != kernel.modules->end();
}

bool kernel_has_dma_buf(const KernelFacts& kernel) {
  int major = 0;
  int minor = 0;
  if (!kernel.version || std::sscanf(kernel.version->c_str(), "%d.%d", &major, &minor) != 2) return false;
  return major > 5 || (major == 5 && minor >= 12);
}

GpuDirect gpu_direct(const HostFacts& facts) {
  const KernelFacts& kernel = facts.kernel;
  if (!has_module(kernel, "nvidia")) return GpuDirect::Unknown;
  if (kernel.nvidia_open.value_or(false) && kernel_has_dma_buf(kernel)) return GpuDirect::Possible;
  if (has_module(kernel, "nvidia_peermem") || has_module(kernel, "nv_peer_mem"))
    return is_registered(kernel) ? GpuDirect::Possible : GpuDirect::Unregistered;
  return kernel.nvidia_open || !kernel_has_dma_buf(kernel) ? GpuDirect::Missing : GpuDirect::Perhaps;
}

}  // namespace weft::topology
