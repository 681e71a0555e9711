// perf.pix_slower_than_phb: GPUs below one switch copy more slowly than GPUs that the CPU joins: typical for ACS, which
// sends their traffic up and down the same link.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/plural.hpp"
#include "topology/audit/audit.hpp"
#include "topology/sources.hpp"

namespace weft::topology::audit {
namespace {

struct Mean {
  double sum = 0;
  std::size_t count = 0;
  double value() const { return sum / static_cast<double>(count); }
};

void check(const Rule& self, const Input& input, Report& report) {
  std::map<int, std::pair<Mean, Mean>> hosts;  // below a switch, through the CPU
  for (const Measurement& measured : input.survey.measurements) {
    if (measured.what != kGpuCopy || measured.at_once || measured.from == measured.to) continue;
    const Node& from = input.locality.node(measured.from);
    if (from.kind != NodeKind::Gpu || input.locality.node(measured.to).kind != NodeKind::Gpu) continue;
    const PathClass path_class = input.locality.finder().best_path(measured.from, measured.to).path_class;
    if (path_class == PathClass::Nvl || path_class > PathClass::Sys) continue;
    auto& [together, apart] = hosts[from.host];
    Mean& mean = path_class < PathClass::Phb ? together : apart;
    mean.sum += measured.bandwidth_gbs;
    ++mean.count;
  }
  for (const auto& [host, means] : hosts) {
    const auto& [together, apart] = means;
    if (together.count == 0 || apart.count == 0 || together.value() >= 0.9 * apart.value()) continue;
    report.add(self, input.on(host, "PIX pairs"),
               fmt::format("{:.1f} GB/s below one switch ({}), {:.1f} GB/s through the CPU ({})", together.value(),
                           base::plural(together.count, "pair"), apart.value(), base::plural(apart.count, "pair")));
  }
}

}  // namespace

extern const Rule perf_pix_slower_than_phb;
const Rule perf_pix_slower_than_phb = {
    .id = "perf.pix_slower_than_phb",
    .severity = Severity::Warning,
    .summary = "GPUs below one switch are slower than across the CPU",
    .silent = "machines that were not measured; differences below a tenth; pairs that NVLink joins",
    .fix = "turn ACS off on the switch's downstream ports (pcie.acs_redirect shows them to root)",
    .reference = "NVIDIA/nccl#1086",
    .check = check,
};

}  // namespace weft::topology::audit
