// net.linklocal_iface: an interface with link-local addresses only (pod identity, USB, BMC) is among those that NCCL
// would use: peers would be told an address that they cannot reach.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/interfaces.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    if (accelerators(input, host).empty() && usable_nics(input, host).empty()) continue;
    for (const InterfaceFacts* one : socket_interfaces(facts)) {
      const bool has_ipv4 = std::any_of(one->addresses.begin(), one->addresses.end(),
                                        [](const std::string& address) { return address.starts_with("169.254."); });
      if (!has_ipv4 || !only_link_local(*one)) continue;
      const std::string better = better_interface(facts);
      report.add(self, self.severity, input.on(host, one->name),
                 fmt::format("NCCL would use it, and its only address is {}", one->addresses.front()),
                 better.empty() ? std::string(self.fix) : fmt::format("export NCCL_SOCKET_IFNAME=={}", better));
    }
  }
}

}  // namespace

extern const Rule net_linklocal_iface;
const Rule net_linklocal_iface = {
    .id = "net.linklocal_iface",
    .severity = Severity::Error,
    .summary = "NCCL would use an interface with link-local addresses only",
    .silent = "interfaces that NCCL_SOCKET_IFNAME leaves out; hosts without accelerators and fabric NICs",
    .fix = "leave it out: export NCCL_SOCKET_IFNAME to the interface with the route to the peers",
    .reference = "aws-samples/aws-do-eks#54",
    .check = check,
};

}  // namespace weft::topology::audit
