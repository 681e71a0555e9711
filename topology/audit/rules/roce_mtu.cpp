// roce.mtu: RoCE runs with small packets because its interface's MTU is 1500. An error where ports of the cluster
// differ: connections hang or crawl.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

struct Port {
  int host;
  PortView view;
};

std::string interface_words(const Input& input, const Port& port) {
  for (const GidFacts& gid : port.view.port->gids) {
    if (!gid.interface) continue;
    const InterfaceFacts* interface = input.facts(port.host).interface(*gid.interface);
    if (interface != nullptr && interface->mtu) return fmt::format(" ({} has {})", interface->name, *interface->mtu);
  }
  return {};
}

void check(const Rule& self, const Input& input, Report& report) {
  constexpr double kFast = 12.5;  // 100 Gbit/s
  constexpr int kFull = 4096;
  std::vector<Port> ports;
  for (int host = 0; host < input.hosts(); ++host)
    for (const PortView& view : ports_of(input, host))
      if (view.active() && view.ethernet() && view.port->active_mtu && view.port->rate_gbs.value_or(0) >= kFast)
        ports.push_back({host, view});
  int most = 0;
  for (const Port& port : ports) most = std::max(most, *port.view.port->active_mtu);
  for (const Port& port : ports) {
    const int mtu = *port.view.port->active_mtu;
    if (mtu < most)
      report.add(self, Severity::Error, describe(input, port.view),
                 fmt::format("active_mtu {}{}, other ports {}", mtu, interface_words(input, port), most));
    else if (mtu < kFull)
      report.add(self, describe(input, port.view),
                 fmt::format("active_mtu {} of {}{}", mtu, kFull, interface_words(input, port)));
  }
}

}  // namespace

extern const Rule roce_mtu;
const Rule roce_mtu = {
    .id = "roce.mtu",
    .severity = Severity::Warning,
    .summary = "RoCE's MTU is small, or differs between ports",
    .silent = "InfiniBand ports; ports that are down; ports slower than 100 Gbit/s; 4096 everywhere",
    .fix = "set MTU 9000 (at least 4200) on the interfaces and on all switches between them",
    .reference = "NVIDIA/nccl#1957, NVIDIA/nccl#1524",
    .check = check,
};

}  // namespace weft::topology::audit
