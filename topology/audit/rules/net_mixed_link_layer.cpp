// net.mixed_link_layer: InfiniBand and Ethernet ports are both up. NCCL takes them for one pool, though they reach
// different peers.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

// "mlx4_0", or with the port ("mlx4_0:1") where another of that device is among the others.
std::string name_without(const PortView& view, const std::vector<PortView>& others, std::string_view before_port) {
  const bool shared =
      std::any_of(others.begin(), others.end(), [&](const PortView& one) { return one.verbs == view.verbs; });
  return shared ? fmt::format("{}{}{}", view.verbs, before_port, view.port->number) : view.verbs;
}

std::vector<std::string> names_without(const std::vector<PortView>& ports, const std::vector<PortView>& others,
                                       std::string_view before_port) {
  std::vector<std::string> names;
  for (const PortView& view : ports)
    if (std::string name = name_without(view, others, before_port);
        std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  return names;
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    if (input.facts(host).variable("NCCL_IB_HCA")) continue;
    std::vector<PortView> ethernet;
    std::vector<PortView> infiniband;
    for (const PortView& view : ports_of(input, host)) {
      if (!view.active() || is_virtual_function(input, view.nic)) continue;
      if (view.ethernet()) ethernet.push_back(view);
      if (view.port->infiniband()) infiniband.push_back(view);
    }
    if (ethernet.empty() || infiniband.empty()) continue;
    const std::vector<std::string> names = names_without(infiniband, ethernet, ":");
    report.add(self, self.severity, input.on(host, names_of(names_without(ethernet, infiniband, " port "))),
               fmt::format("Ethernet, beside InfiniBand on {}", names_of(names)),
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
