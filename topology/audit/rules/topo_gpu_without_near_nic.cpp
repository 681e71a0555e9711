// topo.gpu_without_near_nic: all fabric NICs are on other NUMA nodes than a GPU, though its socket may have one:
// GPUDirect RDMA is off for it by default.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "topology/audit/assumed_rate.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/audit/near_nics.hpp"

namespace weft::topology::audit {
namespace {

bool has_nic_that_is_down(const Input& input, int host) {
  const std::vector<int>& nics = input.locality.nics(host);
  return std::any_of(nics.begin(), nics.end(), [&](int nic) {
    const Node& node = input.locality.node(nic);
    return node.fabric && node.active == false && !is_virtual_function(input, nic);
  });
}

// One NIC cannot be near all: moving it would only move the problem.
std::string remedy(const Input& input, int host, const Nearness& near, bool only_one) {
  const std::string pxn = pxn_advice(input, host, near);
  return fmt::format(
      "{}{}", only_one ? "with one NIC: " : "move a NIC to the GPU's NUMA node, or ",
      pxn.empty() ? "try NCCL_NET_GDR_LEVEL=SYS, measuring" : pxn + ", and NCCL_NET_GDR_LEVEL=SYS after measuring");
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const Nearness near = nearness(input, host);
    if (near.near_gpus.empty() || near.far_gpus.empty()) continue;
    std::vector<int> gpus = near.far_gpus;
    for (const auto& socket : sockets_without_nic(input, host, near)) {
      const auto& on_it = socket.second;
      std::erase_if(gpus, [&](int gpu) { return std::find(on_it.begin(), on_it.end(), gpu) != on_it.end(); });
    }
    if (gpus.empty()) continue;
    const int nearest = nearest_of(input, near, gpus.front());
    const Path& path = input.locality.device_path(gpus.front(), nearest);
    const bool only_one = near.nics.size() < 2 && !has_nic_that_is_down(input, host);
    report.add(self, only_one ? Severity::Info : self.severity, input.on(host, names_of(input.locality, gpus)),
               fmt::format(
                   "the nearest fabric NIC of {} is {}, a {} path{}", input.locality.node(gpus.front()).name,
                   input.locality.describe(nearest), to_string(path.path_class),
                   has_assumed_rate(input.graph, path) ? "" : fmt::format(" of about {:.0f} GB/s", path.bandwidth_gbs)),
               remedy(input, host, near, only_one));
  }
}

}  // namespace

extern const Rule topo_gpu_without_near_nic;
const Rule topo_gpu_without_near_nic = {
    .id = "topo.gpu_without_near_nic",
    .severity = Severity::Warning,
    .summary = "a GPU has no fabric NIC on its NUMA node",
    .silent =
        "hosts without fabric NICs; whole sockets without one (topo.socket_without_nic); where no GPU is near a NIC "
        "(topo.nic_on_wrong_socket); NICs much slower than others do not count",
    .fix =
        "move a NIC to the GPU's NUMA node, or use PXN (NCCL 2.12 and later) where NVLink or XGMI joins the GPUs, and "
        "NCCL_NET_GDR_LEVEL=SYS after measuring",
    .reference = "NVIDIA/nccl#595",
    .check = check,
};

}  // namespace weft::topology::audit
