// The findings as text.
#include <fmt/format.h>

#include <string>

#include "report.hpp"

namespace weft::topo_probe {

std::string findings_text(const Report& report) {
  if (report.findings.empty()) return fmt::format("no findings ({} rules)\n", topology::audit::rules().size());
  std::string text = "findings\n";
  for (const topology::audit::Finding& finding : report.findings)
    text += fmt::format("  {} {}: {} {}\n    {}\n", to_string(finding.severity), finding.id, finding.subject,
                        finding.evidence, finding.fix);
  return text;
}

}  // namespace weft::topo_probe
