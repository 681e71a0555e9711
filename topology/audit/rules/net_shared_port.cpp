// net.shared_port: NICs of the list are one card that is connected to the machine at two places (socket direct,
// multi-host, DGX Spark): they share its ports, so their rates must not be added up.
//
// A warning where the card runs below what its id can do, so that somebody may have hoped for the sum.
#include <fmt/format.h>

#include <optional>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/audit/shared_ports.hpp"
#include "topology/device_kinds.hpp"

namespace weft::topology::audit {
namespace {

bool is_slow(const Node& nic) {
  const std::optional<double> nominal = nominal_network_gbs(nic.device);
  return nominal && nic.network_gbs && *nic.network_gbs < *nominal;
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    if (virtual_machine(input, host).value_or(false)) continue;
    for (const std::vector<int>& card : shared_ports(input, host)) {
      const bool slow = is_slow(input.locality.node(card.front()));
      report.add(
          self, slow ? Severity::Warning : Severity::Info, input.on(host, names_of(input.locality, card)),
          fmt::format("one card that is connected at several places ({}): equal system image GUID {}",
                      names_of(input.locality, card, true), *device_facts(input, card.front())->system_image_guid));
    }
  }
}

}  // namespace

extern const Rule net_shared_port;
const Rule net_shared_port = {
    .id = "net.shared_port",
    .severity = Severity::Info,
    .summary = "functions on different buses share one card and its ports",
    .silent = "the ports of one card at one place (functions .0 and .1); virtual functions; virtual machines",
    .fix =
        "count the card once; give each socket its own function, and check that cable and switch port carry the whole "
        "rate",
    .reference = "NVIDIA/nccl#307",
    .check = check,
};

}  // namespace weft::topology::audit
