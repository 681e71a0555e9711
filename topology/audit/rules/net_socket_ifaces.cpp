// net.socket_ifaces: without a fabric NIC, NCCL spreads its data over every interface, also those of containers.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/interfaces.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    if (accelerators(input, host).empty() || !usable_nics(input, host).empty()) continue;
    std::vector<std::string> names;
    for (const InterfaceFacts* one : socket_interfaces(facts))
      if (!leads_nowhere(facts, *one).empty() && one->kind != "loopback" && one->name != "lo")
        names.push_back(one->name);
    if (names.size() < 2) continue;
    const std::string better = better_interface(facts);
    report.add(self, self.severity, input.on(host, "NCCL_SOCKET_IFNAME"),
               fmt::format("{} virtual interfaces would be used: {}", names.size(), names_of(names)),
               better.empty() ? std::string(self.fix) : fmt::format("export NCCL_SOCKET_IFNAME=={}", better));
  }
}

}  // namespace

extern const Rule net_socket_ifaces;
const Rule net_socket_ifaces = {
    .id = "net.socket_ifaces",
    .severity = Severity::Warning,
    .summary = "data would go over virtual interfaces, too",
    .silent =
        "hosts with a fabric NIC, where sockets only start the job; fewer than two such interfaces; NCCL_SOCKET_IFNAME "
        "that leaves them out; hosts without accelerators",
    .fix = "export NCCL_SOCKET_IFNAME==... with the names of the real interfaces",
    .reference = "NVIDIA/nccl#1358",
    .check = check,
};

}  // namespace weft::topology::audit
