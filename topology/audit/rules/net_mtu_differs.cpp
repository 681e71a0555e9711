// net.mtu_differs: hosts of one cluster send packets of different sizes over the interface of their default route: the
// larger ones are dropped or cut somewhere.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

const InterfaceFacts* main_interface(const HostFacts& facts) {
  for (const InterfaceFacts& one : facts.interfaces)
    if (one.default_route.value_or(false) && one.mtu) return &one;
  return nullptr;
}

void check(const Rule& self, const Input& input, Report& report) {
  std::map<int, std::vector<int>> hosts;  // by MTU
  for (int host = 0; host < input.hosts(); ++host)
    if (const InterfaceFacts* one = main_interface(input.facts(host))) hosts[*one->mtu].push_back(host);
  if (hosts.size() < 2) return;
  const auto usual = std::max_element(hosts.begin(), hosts.end(),
                                      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  for (const auto& [mtu, with] : hosts)
    for (int host : with)
      if (mtu != usual->first)
        report.add(self, input.on(host, main_interface(input.facts(host))->name),
                   fmt::format("MTU {}, on {} other hosts {}", mtu, usual->second.size(), usual->first));
}

}  // namespace

extern const Rule net_mtu_differs;
const Rule net_mtu_differs = {
    .id = "net.mtu_differs",
    .severity = Severity::Warning,
    .summary = "hosts have different MTUs",
    .silent = "one host; hosts without a known default route; interfaces of different speed",
    .fix = "set the same MTU on all hosts and on the switches between them",
    .reference = "NVIDIA/nccl#1524",
    .check = check,
};

}  // namespace weft::topology::audit
