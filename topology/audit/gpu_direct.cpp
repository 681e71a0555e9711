// GPUDirect RDMA.
#include "topology/audit/gpu_direct.hpp"

#include <algorithm>
#include <cstdio>

#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
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

bool wants_gpu_direct(const Input& input, int host) {
  const std::vector<int> gpus = accelerators(input, host);
  const std::vector<int> nics = usable_nics(input, host);
  const bool nvidia = std::any_of(gpus.begin(), gpus.end(), [&](int gpu) {
    const std::string& device = input.locality.node(gpu).device;
    return device.empty() || device.starts_with("10de:");
  });
  return nvidia && std::any_of(nics.begin(), nics.end(), [&](int nic) {
           const Node& node = input.locality.node(nic);
           return !is_efa(node) && !is_slingshot(node);
         });
}

}  // namespace weft::topology::audit
