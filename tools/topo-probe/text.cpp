// The report as text: the machine as a tree, the matrices, the findings.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/plural.hpp"
#include "report.hpp"
#include "topology/export/node_words.hpp"
#include "topology/storage.hpp"

namespace weft::topo_probe {
namespace {

constexpr std::size_t kMaxBindingLinks = 12;

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
  const std::size_t storage = graph.ids(NodeKind::Storage).size();
  return fmt::format("{}: {}, {}, {}, {}, {}, {}, {}{}\nfingerprint {}\n\n", graph.name,
                     count(NodeKind::Machine, "host"), count(NodeKind::Package, "package"),
                     count(NodeKind::Numa, "NUMA node"), known(totals.cores, "core"), known(totals.cpus, "cpu"),
                     count(NodeKind::Gpu, "GPU"), count(NodeKind::Nic, "NIC"),
                     storage > 0 ? ", " + topology::storage_count(storage) : "", fingerprint(graph));
}

// "PIX 63 0.5", "SYS ~10 1".
std::string cell_text(const Report& report, const Matrix& matrix, std::size_t row, std::size_t column) {
  const std::string& word = matrix.classes[row][column];
  if (word == "X" || word == "NONE" || word == kUnknownClass) return word;
  return fmt::format("{} {}{:.4g} {:.3g}", word, is_assumed(report, matrix, row, column) ? "~" : "",
                     matrix.bandwidth_gbs[row][column], matrix.latency_us[row][column]);
}

std::string one_matrix(const Report& report, const Matrix& matrix, std::string_view title) {
  if (matrix.rows.empty() || matrix.columns.empty()) return {};
  const auto name = [&](int id) { return report.locality.name(id); };
  const bool assumed = has_assumed(report, matrix);
  std::size_t width = assumed ? 18 : 16;
  for (int id : matrix.rows) width = std::max(width, name(id).size() + 1);
  for (int id : matrix.columns) width = std::max(width, name(id).size() + 1);
  std::string text = fmt::format("\n{} (class, GB/s and us{})\n{:<{}}", title,
                                 assumed ? "; ~ is assumed, nobody told it" : "", "", width);
  for (int id : matrix.columns) text += fmt::format("{:<{}}", name(id), width);
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    text += fmt::format("\n{:<{}}", name(matrix.rows[row]), width);
    for (std::size_t column = 0; column < matrix.columns.size(); ++column)
      text += fmt::format("{:<{}}", cell_text(report, matrix, row, column), width);
  }
  return text + "\n";
}

struct Bound {
  std::size_t pairs = 0;
  std::string first;  // of these pairs
};

// Pairs by the link that is the narrowest between them; -1: a link of one of both, which no other device uses.
std::map<int, Bound> bounds_of(const Report& report, const Matrix& matrix) {
  std::map<int, Bound> bounds;
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
      const bool seen = matrix.rows == matrix.columns && column < row;
      const int id = matrix.binding_link[row][column];
      if (id < 0 || seen || matrix.classes[row][column] == kUnknownClass) continue;
      const Link& link = report.graph.links[static_cast<std::size_t>(id)];
      const auto is_end = [&](int device) { return link.a == device || link.b == device; };
      Bound& bound = bounds[is_end(matrix.rows[row]) || is_end(matrix.columns[column]) ? -1 : id];
      if (++bound.pairs == 1)
        bound.first = fmt::format("{} to {}", report.locality.describe(matrix.rows[row]),
                                  report.locality.describe(matrix.columns[column]));
    }
  }
  return bounds;
}

// Where it queues when all send at once: links that bind pairs of several devices.
std::string binding_text(const Report& report, const Matrix& matrix, std::string_view title) {
  const std::map<int, Bound> bounds = bounds_of(report, matrix);
  std::vector<std::pair<int, Bound>> sorted(bounds.begin(), bounds.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.pairs > b.second.pairs; });
  std::string text;
  for (std::size_t i = 0; i < sorted.size() && i < kMaxBindingLinks; ++i) {
    const auto& [id, bound] = sorted[i];
    std::string words = "their own link";
    if (id >= 0) {
      const Link& link = report.graph.links[static_cast<std::size_t>(id)];
      words = fmt::format("{} - {} ({}), {:.4g} GB/s", report.locality.describe(link.a),
                          report.locality.describe(link.b), to_string(link.kind), link.bandwidth_gbs);
    }
    text += fmt::format("  {} by {}: {}{}\n", base::plural(bound.pairs, "pair"), words, bound.first,
                        bound.pairs > 1 ? " and others" : "");
  }
  if (sorted.size() > kMaxBindingLinks)
    text += fmt::format("  and by {}\n", base::plural(sorted.size() - kMaxBindingLinks, "more link"));
  return text.empty() ? text : fmt::format("\n{}: bound\n{}", title, text);
}

}  // namespace

std::string matrix_text(const Report& report) {
  if (!report.matrices) return fmt::format("\nno matrix: there are more than {} GPUs and NICs\n", kMaxMatrixDevices);
  if (report.matrices->gpu_gpu.rows.empty() && report.matrices->nic_nic.rows.size() < 2)
    return "\nno matrix: there are no GPUs\n";
  const Matrices& matrices = *report.matrices;
  return one_matrix(report, matrices.gpu_gpu, "GPU to GPU") + one_matrix(report, matrices.gpu_nic, "GPU to NIC") +
         one_matrix(report, matrices.nic_nic, "NIC to NIC") + binding_text(report, matrices.gpu_gpu, "GPU to GPU") +
         binding_text(report, matrices.gpu_nic, "GPU to NIC");
}

std::string report_text(Report& report) {
  std::string text = summary_text(report.graph) + hosts_text(report) + network_text(report.graph);
  if (report.matrices)
    text += one_matrix(report, report.matrices->gpu_gpu, "GPU to GPU") +
            one_matrix(report, report.matrices->gpu_nic, "GPU to NIC");
  else
    text += "\nmany devices: --matrix shows how they reach each other\n";
  return text + "\n" + findings_text(report);
}

}  // namespace weft::topo_probe
