// net.mixed_link_layer: InfiniBand and Ethernet ports are both up. NCCL takes them for one pool, though they reach
// different peers.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    if (input.facts(host).variable("NCCL_IB_HCA")) continue;
    std::vector<int> ethernet;
    std::vector<int> infiniband;
    for (const PortView& view : ports_of(input, host)) {
      if (!view.active() || is_virtual_function(input, view.nic)) continue;
      if (view.ethernet()) ethernet.push_back(view.nic);
      if (view.port->infiniband()) infiniband.push_back(view.nic);
    }
    if (ethernet.empty() || infiniband.empty()) continue;
    std::vector<std::string> names;
    for (int nic : infiniband) names.push_back(verbs_name(input, nic));
    report.add(self, self.severity, input.on(host, names_of(input.locality, ethernet)),
               fmt::format("Ethernet, beside InfiniBand on {}", names_of(input.locality, infiniband)),
               fmt::format("name those of one kind: NCCL_IB_HCA=={}", fmt::join(names, ",")));
  }
}

}  // namespace

extern const Rule net_mixed_link_layer;
const Rule net_mixed_link_layer = {
    .id = "net.mixed_link_layer",
    .severity = Severity::Warning,
    .summary = "InfiniBand and RoCE ports are used together",
    .silent = "ports that are down; NCCL_IB_HCA set; virtual functions",
    .fix = "name those of one kind: NCCL_IB_HCA==... (the second = is for whole names)",
    .reference = "NVIDIA/nccl#302",
    .check = check,
};

}  // namespace weft::topology::audit
