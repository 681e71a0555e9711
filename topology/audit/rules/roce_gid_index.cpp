// roce.gid_index: NCCL_IB_GID_INDEX names an address that is not routed or not RoCE v2, so connections to other hosts
// fail.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/parse.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/facts/gids.hpp"

namespace weft::topology::audit {
namespace {

// Why the entry is wrong; empty if it is right.
std::string wrong(const PortFacts& port, int index) {
  for (const GidFacts& gid : port.gids) {
    if (gid.index != index) continue;
    const std::string type = gid.type.value_or("of unknown type");
    if (is_link_local_gid(gid)) return fmt::format("{} is {}, link-local, {}", index, gid.address, type);
    if (gid.type && *gid.type != "RoCE v2") return fmt::format("{} is {}, {}", index, gid.address, type);
    return {};
  }
  return fmt::format("there is no entry {}", index);
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const std::optional<std::string_view> set = input.facts(host).variable("NCCL_IB_GID_INDEX");
    const std::optional<int> index = set ? base::parse_integer(*set) : std::nullopt;
    if (!index || *index < 0) continue;
    for (const PortView& view : ports_of(input, host)) {
      if (!view.active() || !view.ethernet() || view.port->gids.empty()) continue;
      const std::string why = wrong(*view.port, *index);
      if (why.empty()) continue;
      const GidFacts* right = best_gid(*view.port);
      report.add(self, self.severity, describe(input, view), fmt::format("NCCL_IB_GID_INDEX={}: {}", *index, why),
                 right == nullptr ? std::string(self.fix)
                                  : fmt::format("NCCL_IB_GID_INDEX={} ({}, RoCE v2)", right->index, right->address));
    }
  }
}

}  // namespace

extern const Rule roce_gid_index;
const Rule roce_gid_index = {
    .id = "roce.gid_index",
    .severity = Severity::Error,
    .summary = "NCCL_IB_GID_INDEX names a wrong address",
    .silent = "the variable not set; InfiniBand ports; ports that are down",
    .fix =
        "set NCCL_IB_GID_INDEX to the entry with the IPv4 address and RoCE v2, or unset it (NCCL 2.21 and later "
        "choose)",
    .reference = "NVIDIA/nccl#769",
    .check = check,
};

}  // namespace weft::topology::audit
