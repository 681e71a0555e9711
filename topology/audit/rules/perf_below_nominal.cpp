// perf.below_nominal: a measured copy between devices is far slower than its path.
#include <fmt/format.h>

#include "topology/audit/assumed_rate.hpp"
#include "topology/audit/audit.hpp"
#include "topology/sources.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (const Measurement& measured : input.survey.measurements) {
    if (measured.at_once || measured.from == measured.to || measured.what == kCopy || measured.what == kTcp) continue;
    const Path path = input.locality.finder().best_path(measured.from, measured.to);
    if (path.hops.empty() || has_assumed_rate(input.graph, path)) continue;
    const double percent = 100 * measured.bandwidth_gbs / path.bandwidth_gbs;
    if (percent >= input.site.thresholds.measured_percent) continue;
    const Link& narrowest = input.graph.links[static_cast<std::size_t>(path.binding_link)];
    report.add(self,
               fmt::format("{} to {}", input.locality.describe(measured.from), input.locality.describe(measured.to)),
               fmt::format("{} measured at {:.1f} GB/s, {:.0f}% of {:.1f} ({} path, narrowest {} to {})", measured.what,
                           measured.bandwidth_gbs, percent, path.bandwidth_gbs, to_string(path.path_class),
                           input.locality.node(narrowest.a).name, input.locality.node(narrowest.b).name));
  }
}

}  // namespace

extern const Rule perf_below_nominal;
const Rule perf_below_nominal = {
    .id = "perf.below_nominal",
    .severity = Severity::Warning,
    .summary = "a measured rate is far below the nominal one",
    .silent =
        "machines that were not measured; paths with an assumed link; copies while all others ran; copies inside CPUs, "
        "whose nominal rates are assumed",
    .fix =
        "look for the link that is narrower than it says: pcie.link_downgraded, ACS and IOMMU findings; then measure "
        "again",
    .reference = "NVIDIA/nvbandwidth",
    .check = check,
};

}  // namespace weft::topology::audit
