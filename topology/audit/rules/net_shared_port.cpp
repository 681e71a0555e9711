// net.shared_port: two NICs of the list are one card with one cable (socket direct, multi-host, DGX Spark): they share
// its port, so their rates must not be added up.
#include <fmt/format.h>

#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/audit/shared_ports.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    if (virtual_machine(input, host).value_or(false)) continue;
    for (const std::vector<int>& card : shared_ports(input, host)) {
      const DeviceFacts* facts = device_facts(input, card.front());
      report.add(self, input.on(host, names_of(input.locality, card)),
                 fmt::format("share system image GUID {} from different buses ({}): one card, one port",
                             *facts->system_image_guid, names_of(input.locality, card, true)));
    }
  }
}

}  // namespace

extern const Rule net_shared_port;
const Rule net_shared_port = {
    .id = "net.shared_port",
    .severity = Severity::Warning,
    .summary = "two functions on different buses share one card and its port",
    .silent = "the ports of one card at one place (functions .0 and .1); virtual functions; virtual machines",
    .fix =
        "count the card once; give each socket its own function, and check that cable and switch port carry the whole "
        "rate",
    .reference = "NVIDIA/nccl#307",
    .check = check,
};

}  // namespace weft::topology::audit
