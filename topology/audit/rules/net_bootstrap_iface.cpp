// net.bootstrap_iface: NCCL would make its first connections over an interface that no other host can reach, and hang;
// or it is told of none that there is, and fails.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/interfaces.hpp"

namespace weft::topology::audit {
namespace {

// NCCL ends with "no socket interface found" then.
void tell_of_none(const Rule& self, const Input& input, int host, Report& report) {
  const HostFacts& facts = input.facts(host);
  const std::string named(facts.variable("NCCL_SOCKET_IFNAME").value_or(""));
  const std::string better = better_interface(facts);
  if (named.empty() || better.empty()) return;
  report.add(self, self.severity, input.on(host, "NCCL_SOCKET_IFNAME"),
             fmt::format("is {}, which leaves none of the interfaces that are up and have an address", named),
             fmt::format("export NCCL_SOCKET_IFNAME=={}, or unset it", better));
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    if (accelerators(input, host).empty() && usable_nics(input, host).empty()) continue;
    const std::vector<const InterfaceFacts*> taken = socket_interfaces(facts);
    if (taken.empty()) {
      tell_of_none(self, input, host, report);
      continue;
    }
    const std::string_view why = leads_nowhere(facts, *taken.front());
    if (why.empty() || only_link_local(*taken.front())) continue;  // net.linklocal_iface tells of those
    const std::string better = better_interface(facts);
    const bool alone = better.empty() && usable_nics(input, host).empty() && !facts.variable("NCCL_SOCKET_IFNAME");
    if (alone) continue;  // a machine without a network
    report.add(self, self.severity, input.on(host, taken.front()->name),
               fmt::format("NCCL would use it for its first connections{}: {}",
                           facts.variable("NCCL_SOCKET_IFNAME")
                               ? fmt::format(" (NCCL_SOCKET_IFNAME={})", *facts.variable("NCCL_SOCKET_IFNAME"))
                               : "",
                           why),
               better.empty() ? "give the container the host's network, or an interface that reaches the peers"
                              : fmt::format("export NCCL_SOCKET_IFNAME=={}", better));
  }
}

}  // namespace

extern const Rule net_bootstrap_iface;
const Rule net_bootstrap_iface = {
    .id = "net.bootstrap_iface",
    .severity = Severity::Error,
    .summary = "NCCL would start over an interface that leads nowhere",
    .silent =
        "hosts without accelerators and fabric NICs; interfaces that are down or have no address; machines without a "
        "network; NCCL_SOCKET_IFNAME that names a good one",
    .fix = "export NCCL_SOCKET_IFNAME to the interface with the route to the peers",
    .reference = "NVIDIA/nccl#913",
    .check = check,
};

}  // namespace weft::topology::audit
