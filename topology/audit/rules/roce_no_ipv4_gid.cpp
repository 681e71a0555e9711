// roce.no_ipv4_gid: a RoCE port has no entry with an IPv4 address, so tools that look for one take entry 0, which is
// not routed.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/facts/gids.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    for (const PortView& view : ports_of(input, host)) {
      if (!view.active() || !view.ethernet() || view.port->gids.empty()) continue;
      const std::vector<GidFacts>& gids = view.port->gids;
      if (std::any_of(gids.begin(), gids.end(), is_ipv4_gid)) continue;
      report.add(self, describe(input, view),
                 fmt::format("its {} entries are IPv6 only, the first {}", gids.size(), gids.front().address));
    }
  }
}

}  // namespace

extern const Rule roce_no_ipv4_gid;
const Rule roce_no_ipv4_gid = {
    .id = "roce.no_ipv4_gid",
    .severity = Severity::Warning,
    .summary = "a RoCE port has no IPv4 address",
    .silent = "InfiniBand ports; ports that are down; tables that are not known",
    .fix = "give its interface an IPv4 address, or choose the routable IPv6 entry of RoCE v2 by NCCL_IB_GID_INDEX",
    .reference = "uccl-project/uccl#803",
    .check = check,
};

}  // namespace weft::topology::audit
