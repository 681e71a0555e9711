// pcie.errors_rising: AER counters of a device rise between two looks. Totals since boot prove nothing: they hold what
// happened while the machine started or a card was plugged.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

std::uint64_t rise(const std::optional<std::uint64_t>& before, const std::optional<std::uint64_t>& now) {
  return before && now && *now > *before ? *now - *before : 0;
}

void check(const Rule& self, const Input& input, Report& report) {
  if (input.before == nullptr || !(input.seconds > 0)) return;
  for (int host = 0; host < input.hosts(); ++host) {
    for (const DeviceFacts& now : input.facts(host).devices) {
      const DeviceFacts* before = input.before->facts(host).device(now.bus_id.empty() ? now.node : now.bus_id);
      if (before == nullptr) continue;
      const std::string subject = input.on(host, now.node.empty() ? now.bus_id : now.node);
      const std::uint64_t grave =
          rise(before->nonfatal_errors, now.nonfatal_errors) + rise(before->fatal_errors, now.fatal_errors);
      const std::uint64_t corrected = rise(before->correctable_errors, now.correctable_errors);
      const double per_hour = static_cast<double>(corrected) * 3600 / input.seconds;
      if (grave > 0)
        report.add(self, Severity::Error, subject,
                   fmt::format("{} uncorrectable errors in {:g} s ({})", grave, input.seconds, now.bus_id));
      else if (per_hour > input.site.thresholds.correctable_per_hour)
        report.add(self, subject,
                   fmt::format("{} corrected errors in {:g} s, {:.0f} an hour ({})", corrected, input.seconds, per_hour,
                               now.bus_id));
    }
  }
}

}  // namespace

extern const Rule pcie_errors_rising;
const Rule pcie_errors_rising = {
    .id = "pcie.errors_rising",
    .severity = Severity::Warning,
    .summary = "PCIe errors are being counted now",
    .silent = "totals since boot; correctable errors rarer than the site's threshold",
    .fix = "reseat or replace the card, cable or riser; look at dmesg for the port that reports",
    .reference = "PCI Express base specification, 6.2",
    .check = check,
    .needs = Needs::Interval,
};

}  // namespace weft::topology::audit
