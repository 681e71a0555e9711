// net.names_differ: the same NIC name means another place on another host, so settings by name (NCCL_IB_HCA) pick NICs
// of different rails.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

using Names = std::map<std::string, std::string>;  // name -> bus id

Names names_on(const Input& input, int host) {
  Names names;
  for (int nic : input.locality.nics(host)) {
    const Node& node = input.locality.node(nic);
    if (node.fabric && !node.bus_id.empty()) names.emplace(verbs_name(input, nic), node.bus_id);
  }
  return names;
}

std::vector<std::string> sorted_buses(const Names& names) {
  std::vector<std::string> buses;
  for (const auto& [name, bus] : names) buses.push_back(bus);
  std::sort(buses.begin(), buses.end());
  return buses;
}

void check(const Rule& self, const Input& input, Report& report) {
  if (input.hosts() < 2) return;
  std::map<Names, std::vector<int>> kinds;
  for (int host = 0; host < input.hosts(); ++host) kinds[names_on(input, host)].push_back(host);
  const auto usual = std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size() || (a.second.size() == b.second.size() && a.second > b.second);
  });
  const std::vector<std::string> buses = sorted_buses(usual->first);
  for (const auto& [names, hosts] : kinds) {
    if (names == usual->first || sorted_buses(names) != buses) continue;
    for (const auto& [name, bus] : names) {
      const auto same = usual->first.find(name);
      if (same != usual->first.end() && same->second == bus) continue;
      for (int host : hosts)
        report.add(self, input.on(host, name),
                   fmt::format("is {}, on {} other hosts {}", bus, usual->second.size(),
                               same == usual->first.end() ? "there is no such name" : same->second));
      break;
    }
  }
}

}  // namespace

extern const Rule net_names_differ;
const Rule net_names_differ = {
    .id = "net.names_differ",
    .severity = Severity::Warning,
    .summary = "NIC names mean different places on like hosts",
    .silent = "one host; hosts whose NICs or buses are other ones altogether; names without a bus id",
    .fix = "make the order of slots and the udev names the same on all hosts, or choose NICs by their bus id",
    .reference = "NVIDIA/nccl#1277",
    .check = check,
};

}  // namespace weft::topology::audit
