// The report as text: the machine as a tree, the matrices, the findings.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/plural.hpp"
#include "report.hpp"
#include "topology/export/node_words.hpp"

namespace weft::topo_probe {
namespace {

using topology::Graph;
using topology::Link;
using topology::LinkKind;
using topology::Node;
using topology::NodeKind;

std::string hosts_text(const Report& report) {
  std::string text;
  for (const HostGroup& group : group_hosts(report)) {
    const Node& node = report.locality.node(group.machines.front());
    text += node.name + (node.model.empty() ? "" : "  " + node.model);
    if (group.machines.size() > 1)
      text += fmt::format("  and {} like it", base::plural(group.machines.size() - 1, "host"));
    text += "\n";
    for (const HostLine& line : host_lines(report.survey.facts(node.host)))
      text += fmt::format("  {:<9} {}\n", line.name, line.words);
    text += group.tree;
  }
  return text;
}

std::string network_text(const Graph& graph) {
  std::map<std::string, int> kinds;
  for (const Link& link : graph.links)
    if (link.kind == LinkKind::Network) ++kinds[fmt::format("of {:g} GB/s ({})", link.bandwidth_gbs, link.source)];
  std::string text;
  for (const auto& [words, count] : kinds) text += fmt::format("  {} {}\n", base::plural(count, "link"), words);
  return text.empty() ? text : "network\n" + text;
}

std::string summary_text(const Graph& graph) {
  const auto count = [&](NodeKind kind, std::string_view one) { return base::plural(graph.ids(kind).size(), one); };
  const auto known = [](const std::optional<long long>& number, std::string_view one) {
    return number ? base::plural(*number, one) : fmt::format("unknown {}s", one);
  };
  const topology::Totals totals = topology::totals_of(graph);
  return fmt::format("{}: {}, {}, {}, {}, {}, {}, {}\nfingerprint {}\n\n", graph.name, count(NodeKind::Machine, "host"),
                     count(NodeKind::Package, "package"), count(NodeKind::Numa, "NUMA node"),
                     known(totals.cores, "core"), known(totals.cpus, "cpu"), count(NodeKind::Gpu, "GPU"),
                     count(NodeKind::Nic, "NIC"), fingerprint(graph));
}

std::string one_matrix(const Report& report, const Matrix& matrix, std::string_view title) {
  if (matrix.rows.empty() || matrix.columns.empty()) return {};
  const auto name = [&](int id) {
    const Node& node = report.locality.node(id);
    return report.locality.hosts() > 1 ? fmt::format("host{}/{}", node.host, node.name) : node.name;
  };
  std::size_t width = 11;
  for (int id : matrix.rows) width = std::max(width, name(id).size() + 1);
  for (int id : matrix.columns) width = std::max(width, name(id).size() + 1);
  std::string text = fmt::format("\n{} (class and GB/s)\n{:<{}}", title, "", width);
  for (int id : matrix.columns) text += fmt::format("{:<{}}", name(id), width);
  for (std::size_t r = 0; r < matrix.rows.size(); ++r) {
    text += fmt::format("\n{:<{}}", name(matrix.rows[r]), width);
    for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
      const std::string& word = matrix.classes[r][c];
      text += fmt::format("{:<{}}",
                          word == "X" || word == "NONE" || word == kUnknownClass
                              ? word
                              : fmt::format("{} {:.4g}", word, matrix.bandwidth_gbs[r][c]),
                          width);
    }
  }
  return text + "\n";
}

}  // namespace

std::string matrix_text(const Report& report) {
  if (!report.matrices) return fmt::format("\nno matrix: there are more than {} GPUs and NICs\n", kMaxMatrixDevices);
  if (report.matrices->gpu_gpu.rows.empty()) return "\nno matrix: there are no GPUs\n";
  return one_matrix(report, report.matrices->gpu_gpu, "GPU to GPU") +
         one_matrix(report, report.matrices->gpu_nic, "GPU to NIC");
}

std::string report_text(Report& report) {
  return summary_text(report.graph) + hosts_text(report) + network_text(report.graph) +
         (report.matrices ? matrix_text(report) : "") + "\n" + findings_text(report);
}

}  // namespace weft::topo_probe
