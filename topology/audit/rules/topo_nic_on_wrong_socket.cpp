// topo.nic_on_wrong_socket: fabric NICs with no GPU near them, while all GPUs have no NIC near: the cards are in the
// wrong slots.
#include <fmt/format.h>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/audit/near_nics.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const Nearness near = nearness(input, host);
    if (near.far_gpus.empty() || !near.near_gpus.empty() || near.far_nics.empty()) continue;
    report.add(self, input.on(host, names_of(input.locality, near.far_nics)),
               fmt::format("no GPU is on {} NUMA node; all {} GPUs (the first: {}) are on others",
                           near.far_nics.size() == 1 ? "its" : "their", near.far_gpus.size(),
                           input.locality.describe(near.far_gpus.front())));
  }
}

}  // namespace

extern const Rule topo_nic_on_wrong_socket;
const Rule topo_nic_on_wrong_socket = {
    .id = "topo.nic_on_wrong_socket",
    .severity = Severity::Warning,
    .summary = "fabric NICs are far from all GPUs",
    .silent = "NICs that are down or whose place is not known; hosts where some GPU is near a NIC",
    .fix = "move the card to a slot of the GPUs' socket",
    .reference = "NVIDIA/nccl#634",
    .check = check,
};

}  // namespace weft::topology::audit
