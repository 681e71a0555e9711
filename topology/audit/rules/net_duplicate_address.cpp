// net.duplicate_address: two hosts have the same address, so connections reach the wrong one.
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/interfaces.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  struct Owner {
    int host;
    std::string interface;
  };
  std::map<std::string, std::vector<Owner>> owners;  // of each address, one a host
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    for (const InterfaceFacts& one : facts.interfaces) {
      if (one.state == "down" || !leads_nowhere(facts, one).empty()) continue;
      for (const std::string& address : one.addresses) {
        if (address.starts_with("fe80:") || address.starts_with("169.254.")) continue;
        std::vector<Owner>& has_it = owners[address];
        if (has_it.empty() || has_it.back().host != host) has_it.push_back({host, one.name});
      }
    }
  }
  for (const auto& [address, has_it] : owners) {
    if (has_it.size() < 2) continue;
    std::vector<std::string> places;
    for (const Owner& owner : has_it)
      places.push_back(fmt::format("{} on {}", host_name(input, owner.host), owner.interface));
    report.add(self, address, fmt::format("{} hosts have it: {}", has_it.size(), names_of(places)));
  }
}

}  // namespace

extern const Rule net_duplicate_address;
const Rule net_duplicate_address = {
    .id = "net.duplicate_address",
    .severity = Severity::Error,
    .summary = "two hosts have the same address",
    .silent = "addresses of loopback, links and container bridges, which are alike everywhere",
    .fix = "give each host its own address (a clone of an image, or two DHCP servers)",
    .reference = "RFC 5227",
    .check = check,
};

}  // namespace weft::topology::audit
