// The findings as text.
#include <fmt/format.h>

#include <string>

#include "report.hpp"
#include "topology/name_ranges.hpp"

namespace weft::topo_probe {

std::string hosts_of_finding(const Report& report, const topology::audit::SharedFinding& shared) {
  const auto hosts = static_cast<std::size_t>(report.locality.hosts());
  if (hosts < 2 || shared.hosts.empty()) return {};
  if (shared.hosts.size() == hosts) return fmt::format(" on all {} hosts", hosts);
  std::vector<std::string> names;
  for (int host : shared.hosts) names.push_back(report.locality.node(report.locality.machine(host)).name);
  return " on " + topology::name_ranges(names);
}

std::string findings_text(const Report& report) {
  if (report.findings.empty()) return topology::audit::no_findings_text();
  std::string text = "findings\n";
  for (const auto& shared : topology::audit::share_findings(report.findings, report.locality.hosts()))
    text += finding_text(shared.finding, hosts_of_finding(report, shared));
  return text;
}

}  // namespace weft::topo_probe
