// The tables of the HTML page: matrices, facts of hosts, what is not known.
#include <fmt/format.h>

#include <string>

#include "base/plural.hpp"
#include "html_page.hpp"
#include "topology/export/markup.hpp"

namespace weft::topo_probe {
namespace {

using topology::escaped;

constexpr std::size_t kMaxMatrixShown = 64;  // rows and columns: more do not help on a page
constexpr std::size_t kMaxUnknownShown = 200;

std::string cell(const Report& report, const Matrix& matrix, std::size_t row, std::size_t column) {
  const std::string& word = matrix.classes[row][column];
  std::string_view look = word;
  if (word.starts_with("NV") || word == "XGMI" || word == "C2C") look = "NVL";
  const bool with_rate = word != "X" && word != "NONE" && word != kUnknownClass;
  return fmt::format("<td class=\"{}\">{}{}</td>", word == kUnknownClass ? "unknown" : look, escaped(word),
                     with_rate
                         ? fmt::format("<small>{}{:.4g}</small>", is_assumed(report, matrix, row, column) ? "~" : "",
                                       matrix.bandwidth_gbs[row][column])
                         : "");
}

std::string matrix_table(const Report& report, const Matrix& matrix, std::string_view title) {
  if (matrix.rows.empty() || matrix.columns.empty() || (matrix.rows == matrix.columns && matrix.rows.size() == 1))
    return {};
  std::string html = fmt::format("<h3>{} <span class=\"soft\">class and GB/s each way{}</span></h3>\n", title,
                                 has_assumed(report, matrix) ? "; ~ is assumed, nobody told it" : "");
  if (matrix.rows.size() > kMaxMatrixShown || matrix.columns.size() > kMaxMatrixShown)
    return html + fmt::format(
                      "<p class=\"soft\">{} by {} devices are too many for a page: see topo-probe --matrix or "
                      "--json.</p>\n",
                      matrix.rows.size(), matrix.columns.size());
  const auto name = [&](int id) { return escaped(report.locality.name(id)); };
  html += "<div class=\"scroll\"><table class=\"matrix\"><tr><th></th>";
  for (int id : matrix.columns) html += fmt::format("<th>{}</th>", name(id));
  html += "</tr>\n";
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    html += fmt::format("<tr><th>{}</th>", name(matrix.rows[row]));
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) html += cell(report, matrix, row, column);
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

}  // namespace

std::string matrices_html(const Report& report) {
  if (!report.matrices) return {};
  const std::string tables = matrix_table(report, report.matrices->gpu_gpu, "GPU to GPU") +
                             matrix_table(report, report.matrices->gpu_nic, "GPU to NIC") +
                             matrix_table(report, report.matrices->nic_nic, "NIC to NIC");
  return tables.empty() ? tables : "<section><h2>How devices reach each other</h2>\n" + tables + "</section>\n";
}

std::string facts_html(const Report& report, const std::vector<HostGroup>& groups) {
  std::string html;
  for (const HostGroup& group : groups) {
    const topology::Node& machine = report.locality.node(group.machines.front());
    const std::vector<HostLine> lines = host_lines(report.survey.facts(machine.host));
    if (lines.empty()) continue;
    if (groups.size() > 1) html += fmt::format("<h3>{}</h3>\n", escaped(machine.name));
    html += "<table class=\"facts\">\n";
    for (const HostLine& line : lines)
      html += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", escaped(line.name), escaped(line.words));
    html += "</table>\n";
  }
  return html.empty() ? html : "<section><h2>Host</h2>\n" + html + "</section>\n";
}

std::string unknown_html(const Report& report) {
  if (report.unknown.empty()) return {};
  std::string html = fmt::format(
      "<section><h2>Not known</h2>\n<details><summary>{}; rules that need it were silent"
      "</summary>\n<table class=\"facts\"><tr><th>what</th><th>of</th><th>why</th></tr>\n",
      base::plural(report.unknown.size(), "thing"));
  std::size_t shown = 0;
  for (const Unknown& unknown : report.unknown) {
    if (++shown > kMaxUnknownShown) break;
    html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", escaped(unknown.what), escaped(unknown.subject),
                        escaped(unknown.why));
  }
  html += "</table>\n";
  if (report.unknown.size() > kMaxUnknownShown)
    html += fmt::format("<p class=\"soft\">and {} more: see --json.</p>\n", report.unknown.size() - kMaxUnknownShown);
  return html + "</details></section>\n";
}

}  // namespace weft::topo_probe
