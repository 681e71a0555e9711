// gpu-far-from-nic: all fabric NICs are on other sockets or NUMA nodes than a GPU, so its traffic crosses them.
#include <fmt/format.h>

#include "topology/audit/audit.hpp"
#include "topology/locality.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  Locality& locality = input.locality;
  for (int gpu : input.graph.ids(NodeKind::Gpu)) {
    const std::vector<int> nearest = locality.nearest_nics(gpu);
    if (nearest.empty() || !locality.node(nearest.front()).fabric) continue;
    const Path path = locality.finder().best_path(gpu, nearest.front());
    if (path.path_class != PathClass::Sys) continue;
    report.add(self, locality.describe(gpu),
               fmt::format("its nearest fabric NIC is {}, a {} path of about {:.0f} GB/s",
                           locality.describe(nearest.front()), to_string(path.path_class), path.bandwidth_gbs));
  }
}

}  // namespace

extern const Rule gpu_far_from_nic;
const Rule gpu_far_from_nic = {
    "gpu-far-from-nic", Severity::Warning, "a GPU has no fabric NIC on its NUMA node",
    "move a NIC to the GPU's socket, or use the GPUs near the NICs for traffic between hosts", check};

}  // namespace weft::topology::audit
