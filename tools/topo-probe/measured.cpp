// Measured rates beside nominal ones.
#include <fmt/format.h>

#include <algorithm>

#include "report.hpp"
#include "topology/measure/measure.hpp"
#include "topology/sources.hpp"

namespace weft::topo_probe {
namespace {

using topology::Comparison;
using topology::Link;

std::string binding_words(const Report& report, const Comparison& one) {
  if (one.binding_link < 0) return {};
  const Link& link = report.graph.links[static_cast<std::size_t>(one.binding_link)];
  return fmt::format("  narrowest {} to {} ({})", report.locality.node(link.a).name, report.locality.node(link.b).name,
                     link.source);
}

}  // namespace

std::string measured_text(Report& report) {
  const std::vector<Comparison> comparisons = compare(report.survey, report.locality);
  if (comparisons.empty()) return report.survey.source == topology::kThisMachine ? "nothing could be measured\n" : "";
  std::string text =
      fmt::format("\n{:<8}{:<14}{:<14}{:>10}{:>10}{:>12}\n", "measured", "from", "to", "GB/s", "nominal", "latency us");
  for (const Comparison& one : comparisons) {
    const topology::Measurement& measured = *one.measured;
    text += fmt::format("{:<8}{:<14}{:<14}{:>10.4g}{:>10}{:>12}{}{}\n", measured.what,
                        report.locality.name(measured.from), report.locality.name(measured.to), measured.bandwidth_gbs,
                        one.nominal_gbs > 0 ? fmt::format("{:.4g}", one.nominal_gbs) : "?",
                        measured.latency_us ? fmt::format("{:.3f}", *measured.latency_us) : "",
                        measured.at_once ? "  while all others ran" : "", binding_words(report, one));
  }
  return text;
}

void write_measured(base::JsonWriter& json, Report& report) {
  if (report.survey.measurements.empty()) return;
  json.begin_list("measured", base::JsonWriter::Layout::Lines);
  for (const Comparison& one : compare(report.survey, report.locality)) {
    const topology::Measurement& measured = *one.measured;
    json.begin_object();
    json.member("from", report.locality.name(measured.from));
    json.member("to", report.locality.name(measured.to));
    json.member("what", measured.what);
    json.member("at_once", measured.at_once);
    json.member("gbs", measured.bandwidth_gbs);
    json.member("latency_us", measured.latency_us);
    json.member("nominal_gbs", one.nominal_gbs > 0 ? std::optional(one.nominal_gbs) : std::nullopt);
    json.member("nominal_is_assumed", one.assumed);
    json.end_object();
  }
  json.end_list();
}

}  // namespace weft::topo_probe
