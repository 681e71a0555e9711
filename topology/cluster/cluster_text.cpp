// A cluster's report as text, JSON and Prometheus text.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/json_writer.hpp"
#include "base/plural.hpp"
#include "topology/audit/shared_findings.hpp"
#include "topology/audit/site.hpp"
#include "topology/cluster/cluster.hpp"
#include "topology/export/markup.hpp"
#include "topology/name_ranges.hpp"

namespace weft::topology::cluster {
namespace {

using Layout = base::JsonWriter::Layout;

constexpr std::size_t kMaxChangesShown = 12;

std::string what_it_is(const ClusterNode& node) {
  const Graph& graph = node.survey->graph;
  const auto count = [&](NodeKind kind) { return graph.ids(kind).size(); };
  std::string model;
  for (const Node& one : graph.nodes)
    if (one.kind == NodeKind::Gpu && model.empty()) model = one.model.empty() ? one.device : one.model;
  return fmt::format("{}, {}, {}{}", base::plural(count(NodeKind::Package), "package"),
                     base::plural(count(NodeKind::Gpu), "GPU"), base::plural(count(NodeKind::Nic), "NIC"),
                     model.empty() ? "" : ", " + model);
}

std::string group_text(const ClusterReport& report, const Group& group, bool usual) {
  std::string text = fmt::format("{} {}: {}\n", base::plural(group.nodes.size(), "node"),
                                 usual ? "alike" : "unlike these", name_list(report.nodes, group.nodes));
  text += fmt::format("  {}; fingerprint {}\n", what_it_is(report.nodes[group.nodes.front()]), group.fingerprint);
  if (!usual) text += fmt::format("  compared with {}:\n", reference_name(report));
  for (std::size_t i = 0; i < std::min(group.changes.size(), kMaxChangesShown); ++i)
    text += fmt::format("  {:<8} {}\n", to_string(group.changes[i].kind), describe(group.changes[i]));
  if (group.changes.size() > kMaxChangesShown)
    text += fmt::format("  and {}\n", base::plural(group.changes.size() - kMaxChangesShown, "more difference"));
  return text;
}

std::string streams_text(const ClusterReport& report) {
  const auto end = [](const std::string& node, const std::string& nic) {
    return nic.empty() ? node : fmt::format("{}/{}", node, nic);
  };
  std::string text;
  for (const ClusterNode& node : report.nodes)
    for (const StreamRate& stream : node.streams)
      text += fmt::format("{}: {} to {}: {:.4g} GB/s{}{}\n", stream.what, end(node.name, stream.from_nic),
                          end(stream.to, stream.to_nic), stream.gbs,
                          stream.latency_us ? fmt::format(", {:.3g} us", *stream.latency_us) : "",
                          stream.at_once ? " while all others ran" : "");
  return text;
}

std::string finding_text(const ClusterReport& report, const SharedFinding& shared) {
  const audit::Finding& finding = shared.finding;
  std::string where;
  if (shared.nodes.size() == report.nodes.size() && report.nodes.size() > 1)
    where = " on all nodes";
  else if (!shared.nodes.empty() && finding.id != audit::kSilentNode)
    where = " on " + name_list(report.nodes, shared.nodes);
  return audit::finding_text(finding, where);
}

std::vector<std::string> names_of(const ClusterReport& report, const std::vector<std::size_t>& positions) {
  std::vector<std::string> names;
  for (std::size_t position : positions) names.push_back(report.nodes[position].name);
  return names;
}

void write_group(base::JsonWriter& json, const ClusterReport& report, const Group& group) {
  json.begin_object(Layout::Lines);
  json.member("nodes", names_of(report, group.nodes));
  json.member("fingerprint", group.fingerprint);
  json.begin_list("changes", Layout::Lines);
  for (const Change& change : group.changes) write(json, change);
  json.end_list();
  json.end_object();
}

}  // namespace

std::string name_list(const std::vector<ClusterNode>& nodes, const std::vector<std::size_t>& positions) {
  std::vector<std::string> names;
  for (std::size_t position : positions) names.push_back(nodes[position].name);
  return name_ranges(names);
}

std::string cluster_text(const ClusterReport& report) {
  std::string text = fmt::format("cluster: {}, {}", base::plural(report.nodes.size(), "node"),
                                 base::plural(report.groups.size(), "kind"));
  if (!report.silent.empty()) text += fmt::format(", {} silent", report.silent.size());
  text += "\n\n";
  for (std::size_t i = 0; i < report.groups.size(); ++i) text += group_text(report, report.groups[i], i == 0);
  for (std::size_t position : report.silent)
    text += fmt::format("silent: {}: {}\n", report.nodes[position].name, report.nodes[position].failure);
  return text + streams_text(report) + "\n" + cluster_findings_text(report);
}

std::string cluster_findings_text(const ClusterReport& report) {
  if (report.findings.empty()) return audit::no_findings_text();
  std::string text = "findings\n";
  for (const SharedFinding& shared : report.findings) text += finding_text(report, shared);
  return text;
}

std::string cluster_json(const ClusterReport& report) {
  base::JsonWriter json;
  json.begin_object(Layout::Lines);
  json.member("schema", 1);
  json.member("name", report.merged.graph.name);
  json.member("reference", report.groups.empty() ? std::optional<std::string>() : reference_name(report));
  json.begin_list("groups", Layout::Lines);
  for (const Group& group : report.groups) write_group(json, report, group);
  json.end_list();
  json.begin_list("silent", Layout::Lines);
  for (std::size_t position : report.silent) {
    json.begin_object();
    json.member("node", report.nodes[position].name);
    json.member("reason", report.nodes[position].failure);
    json.end_object();
  }
  json.end_list();
  json.begin_list("findings", Layout::Lines);
  for (const SharedFinding& shared : report.findings) {
    json.begin_object();
    json.member("id", shared.finding.id);
    json.member("severity", to_string(shared.finding.severity));
    json.member("subject", shared.finding.subject);
    json.member("evidence", shared.finding.evidence);
    json.member("fix", shared.finding.fix);
    json.member("reference", shared.finding.reference);
    json.member("nodes", names_of(report, shared.nodes));
    json.end_object();
  }
  json.end_list();
  if (!report.groups.empty()) write_survey(json, report.merged);
  json.end_object();
  return std::move(json).text();
}

std::string cluster_prometheus(const ClusterReport& report) {
  std::string text =
      "# HELP weft_cluster_nodes Nodes by group of like ones; group 0 is the largest.\n# TYPE weft_cluster_nodes "
      "gauge\n";
  for (std::size_t i = 0; i < report.groups.size(); ++i)
    text += fmt::format("weft_cluster_nodes{{group=\"{}\",fingerprint=\"{}\"}} {}\n", i, report.groups[i].fingerprint,
                        report.groups[i].nodes.size());
  text += "# HELP weft_cluster_silent Whether a node told nothing.\n# TYPE weft_cluster_silent gauge\n";
  for (std::size_t position : report.silent)
    text += fmt::format("weft_cluster_silent{{node=\"{}\"}} 1\n", label_value(report.nodes[position].name));
  text += "# HELP weft_cluster_odd Whether a node is unlike the largest group.\n# TYPE weft_cluster_odd gauge\n";
  for (std::size_t i = 1; i < report.groups.size(); ++i)
    for (std::size_t position : report.groups[i].nodes)
      text += fmt::format("weft_cluster_odd{{node=\"{}\"}} 1\n", label_value(report.nodes[position].name));
  // By what the labels say; a finding of the cluster itself has no node.
  std::map<std::string, int> counts;
  for (const SharedFinding& shared : report.findings) {
    const std::string labels =
        fmt::format("id=\"{}\",severity=\"{}\"", shared.finding.id, to_string(shared.finding.severity));
    if (shared.nodes.empty()) ++counts[labels];
    for (std::size_t position : shared.nodes)
      ++counts[labels + fmt::format(",node=\"{}\"", label_value(report.nodes[position].name))];
  }
  text += "# HELP weft_cluster_findings Findings of the audit.\n# TYPE weft_cluster_findings gauge\n";
  for (const auto& [labels, count] : counts) text += fmt::format("weft_cluster_findings{{{}}} {}\n", labels, count);
  return text;
}

}  // namespace weft::topology::cluster
