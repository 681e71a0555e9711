// Whether a host needs GPUDirect RDMA through the kernel's peer memory.
#include "topology/audit/gpu_direct.hpp"

#include <algorithm>

#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {

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
