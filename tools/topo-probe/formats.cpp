// The table of formats, and that of views.
#include "formats.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "topology/advice/binding_text.hpp"
#include "topology/advice/environment.hpp"
#include "topology/export/dot.hpp"
#include "topology/export/nccl_xml.hpp"

namespace weft::topo_probe {
namespace {

Result<std::string> write_text(Report& report, const Arguments& arguments) {
  std::string text;
  bool any = false;
  for (const View& view : views()) {
    if (!view.wanted(arguments)) continue;
    any = true;
    WEFT_TRY_ASSIGN(const std::string part, view.text(report, arguments));
    text += part;
  }
  return any ? text : report_text(report);
}

// Findings as severe as --fail-on, else warnings and errors; an empty text where there are none, as such checks want
// it.
Result<std::string> write_line(Report& report, const Arguments& arguments) {
  using topology::audit::Severity;
  const Severity least = topology::audit::parse_severity(arguments.fail_on.value_or("")).value_or(Severity::Warning);
  const std::string line = topology::audit::one_line(report.findings, least);
  return line.empty() ? line : line + "\n";
}

constexpr Format kFormats[] = {
    {"text", "for people", kMaxMatrixRead, write_text},
    {"json", "for programs, and to be read back with --from", kMaxMatrixUnasked,
     [](Report& report, const Arguments&) -> Result<std::string> { return report_json(report); }},
    {"html", "one page with pictures, for people", kMaxMatrixRead,
     [](Report& report, const Arguments&) -> Result<std::string> { return report_html(report); }},
    {"dot", "a picture by Graphviz", 0,
     [](Report& report, const Arguments&) -> Result<std::string> { return topology::to_dot(report.graph); }},
    {"nccl-xml", "for NCCL_TOPO_FILE", 0,
     [](Report& report, const Arguments& arguments) { return to_nccl_xml(report.survey, arguments.nccl_version); }},
    {"line", "the most severe findings on one line, for a health check of Slurm or NHC", 0, write_line},
    {"prometheus", "for a textfile collector", 0,
     [](Report& report, const Arguments&) -> Result<std::string> { return report_prometheus(report); }},
};

constexpr View kViews[] = {
    {[](const Arguments& arguments) { return !arguments.bindings.empty(); },
     [](Report& report, const Arguments& arguments) {
       const auto form = topology::advice::parse_binding_form(arguments.bindings);
       return topology::advice::binding_text(*form, report.survey, report.locality);
     }},
    {[](const Arguments& arguments) { return arguments.environment; },
     [](Report& report, const Arguments&) -> Result<std::string> {
       return topology::advice::environment_text(report.survey, report.locality);
     }},
    {[](const Arguments& arguments) { return arguments.measure; },
     [](Report& report, const Arguments&) -> Result<std::string> { return measured_text(report); }},
    {[](const Arguments& arguments) { return arguments.matrix; },
     [](Report& report, const Arguments&) -> Result<std::string> { return matrix_text(report); }},
    {[](const Arguments& arguments) { return arguments.rings; },
     [](Report& report, const Arguments&) -> Result<std::string> { return rings_text(report); }},
    {[](const Arguments& arguments) { return arguments.audit; },
     [](Report& report, const Arguments&) -> Result<std::string> { return findings_text(report); }},
};

}  // namespace

std::span<const Format> formats() { return kFormats; }

const Format& format_named(std::string_view name) {
  const auto found =
      std::find_if(formats().begin(), formats().end(), [&](const Format& format) { return format.name == name; });
  WEFT_ASSERT(found != formats().end());
  return *found;
}

std::span<const View> views() { return kViews; }

}  // namespace weft::topo_probe
