// net.errors_rising: a port counts errors of the link between two looks: a bad cable, connector or transceiver.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "topology/audit/audit.hpp"
#include "topology/audit/counters.hpp"

namespace weft::topology::audit {
namespace {

constexpr std::array<std::string_view, 8> kOfLinks = {"symbol_error",
                                                      "link_error_recovery",
                                                      "link_downed",
                                                      "port_rcv_errors",
                                                      "local_link_integrity_errors",
                                                      "excessive_buffer_overrun_errors",
                                                      "port_xmit_discards",
                                                      "port_rcv_remote_physical_errors"};

void check(const Rule& self, const Input& input, Report& report) {
  for (const Rise& rise : rising_counters(input)) {
    if (std::find(kOfLinks.begin(), kOfLinks.end(), rise.counter) == kOfLinks.end()) continue;
    if (rise.per_hour > input.site.thresholds.port_errors_per_hour)
      report.add(self, rise.counter == "link_downed" ? Severity::Error : self.severity, rise.subject,
                 fmt::format("{} rose by {} in {:g} s, {:.0f} an hour", rise.counter, rise.count, input.seconds,
                             rise.per_hour));
  }
}

}  // namespace

extern const Rule net_errors_rising;
const Rule net_errors_rising = {
    .id = "net.errors_rising",
    .severity = Severity::Warning,
    .summary = "a port is counting link errors",
    .silent =
        "totals since boot; rates below the site's threshold; RoCE's congestion counters, of which roce.lossy tells",
    .fix = "clean or replace the cable and transceiver; compare with the port at the other end (mlxlink, ibdiagnet)",
    .reference = "InfiniBand architecture specification, 16.1.3 (PortCounters)",
    .check = check,
    .needs = Needs::Interval,
};

}  // namespace weft::topology::audit
