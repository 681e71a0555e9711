// The report as JSON, schema 1 (docs/topology.md). Unknown is null.
#include <map>
#include <string>

#include "base/json_writer.hpp"
#include "report.hpp"
#include "topology/advice/binding_text.hpp"
#include "topology/advice/environment.hpp"
#include "topology/idle_link.hpp"
#include "topology/ring_rates.hpp"

namespace weft::topo_probe {
namespace {

using base::JsonWriter;
using topology::Graph;
using topology::Link;
using topology::LinkKind;
using topology::Node;
using topology::NodeKind;
using Layout = JsonWriter::Layout;

void text_or_null(JsonWriter& json, std::string_view name, const std::string& text) {
  json.key(name);
  if (text.empty())
    json.value(nullptr);
  else
    json.value(text);
}

void write_cpu_parts(JsonWriter& json, std::string_view name, const Graph& graph, NodeKind kind) {
  json.begin_list(name, Layout::Lines);
  for (int id : graph.ids(kind)) {
    const Node& node = graph.nodes[static_cast<std::size_t>(id)];
    json.begin_object();
    json.member("name", node.name);
    json.member("host", node.host);
    json.member("os_index", node.os_index);
    json.member("cpus", node.cpus);
    json.member("cores", node.cores);
    if (kind == NodeKind::Package) text_or_null(json, "model", node.model);
    if (kind == NodeKind::Numa) json.member("memory_bytes", node.memory_bytes);
    json.end_object();
  }
  json.end_list();
}

void write_pcie(JsonWriter& json, const topology::Locality& locality, const Node& node) {
  const int above = locality.upstream_bridge(node.id);
  json.begin_object("pcie");
  json.member("gts", node.pci.gts);
  json.member("width", node.pci.width);
  json.member("max_gts", node.pci.max_gts);
  json.member("max_width", node.pci.max_width);
  json.member("gbs", locality.pci_link_gbs(node.id));
  if (node.kind == NodeKind::Gpu)
    json.member("maybe_idle", topology::idle_rate(locality, node.id) || topology::idle_rate_above(locality, node.id));
  json.member("upstream_gbs", above < 0 ? std::optional<double>() : locality.pci_link_gbs(above));
  json.end_object();
}

void write_device(JsonWriter& json, const topology::Locality& locality, int id) {
  const Node& node = locality.node(id);
  json.begin_object();
  json.member("name", node.name);
  json.member("host", node.host);
  text_or_null(json, "bus_id", node.bus_id);
  text_or_null(json, "device", node.device);
  text_or_null(json, "model", node.model);
  json.member("names", node.names.empty() ? std::vector{node.name} : node.names);
  json.begin_list("numa");
  for (int near : locality.numa_nodes_of(id)) json.value(locality.node(near).os_index.value_or(-1));
  json.end_list();
  json.member("cpus", node.cpus);
  write_pcie(json, locality, node);
  if (node.kind == NodeKind::Nic) {
    json.member("fabric", node.fabric);
    json.member("active", node.active);
    json.member("network_gbs", node.network_gbs);
  }
  json.end_object();
}

void write_devices(JsonWriter& json, std::string_view name, const Report& report, NodeKind kind) {
  json.begin_list(name, Layout::Lines);
  for (int id : report.graph.ids(kind)) write_device(json, report.locality, id);
  json.end_list();
}

std::map<int, int> positions(const std::vector<int>& ids) {
  std::map<int, int> position;
  for (std::size_t i = 0; i < ids.size(); ++i) position[ids[i]] = static_cast<int>(i);
  return position;
}

// Links of one kind between GPUs.
void write_gpu_links(JsonWriter& json, std::string_view name, const Graph& graph, LinkKind kind) {
  const std::map<int, int> gpu = positions(graph.ids(NodeKind::Gpu));
  json.begin_list(name, Layout::Lines);
  for (const Link& link : graph.links) {
    if (link.kind != kind || !gpu.contains(link.a) || !gpu.contains(link.b)) continue;
    json.begin_object();
    json.member("a", gpu.at(link.a));
    json.member("b", gpu.at(link.b));
    json.member("count", link.count == 0 ? std::optional<int>() : link.count);
    json.member("gbs", link.bandwidth_gbs);
    json.end_object();
  }
  json.end_list();
}

// How many links each GPU has to an NVSwitch, by position.
std::map<int, int> links_to_switch(const Graph& graph) {
  const std::map<int, int> gpu = positions(graph.ids(NodeKind::Gpu));
  std::map<int, int> count;
  for (const Link& link : graph.links) {
    if (link.kind != LinkKind::NvLink && link.kind != LinkKind::Xgmi) continue;
    const bool a = gpu.contains(link.a);
    const int other = a ? link.b : link.a;
    if (a != gpu.contains(link.b) && graph.nodes[static_cast<std::size_t>(other)].kind == NodeKind::NvSwitch)
      count[gpu.at(a ? link.a : link.b)] += link.count;
  }
  return count;
}

void write_links(JsonWriter& json, const Graph& graph) {
  json.begin_object("links", Layout::Lines);
  write_gpu_links(json, "nvlink", graph, LinkKind::NvLink);
  write_gpu_links(json, "xgmi", graph, LinkKind::Xgmi);
  json.begin_list("nvlink_switch");
  for (const auto& [position, count] : links_to_switch(graph)) {
    json.begin_object();
    json.member("gpu", position);
    json.member("count", count);
    json.end_object();
  }
  json.end_list();
  json.end_object();
}

template <typename T>
void write_rows(JsonWriter& json, std::string_view name, const std::vector<std::vector<T>>& rows) {
  json.begin_list(name, Layout::Lines);
  for (const std::vector<T>& row : rows) json.value(row);
  json.end_list();
}

// An unknown class is null.
void write_rows(JsonWriter& json, std::string_view name, const std::vector<std::vector<std::string>>& rows) {
  json.begin_list(name, Layout::Lines);
  for (const std::vector<std::string>& row : rows) {
    json.begin_list();
    for (const std::string& cell : row)
      if (cell == kUnknownClass)
        json.value(nullptr);
      else
        json.value(cell);
    json.end_list();
  }
  json.end_list();
}

void write_matrices(JsonWriter& json, const std::optional<Matrices>& matrices) {
  if (!matrices) return json.member("matrix", nullptr);
  json.begin_object("matrix", Layout::Lines);
  write_rows(json, "gpu_gpu", matrices->gpu_gpu.classes);
  write_rows(json, "gpu_gpu_pcie", matrices->gpu_gpu_pcie.classes);
  write_rows(json, "gpu_nic", matrices->gpu_nic.classes);
  write_rows(json, "nic_nic", matrices->nic_nic.classes);
  for (const auto& [name, matrix] : {std::pair<std::string, const Matrix&>{"gpu_gpu", matrices->gpu_gpu},
                                     {"gpu_nic", matrices->gpu_nic},
                                     {"nic_nic", matrices->nic_nic}}) {
    write_rows(json, name + "_gbs", matrix.bandwidth_gbs);
    write_rows(json, name + "_us", matrix.latency_us);
    write_rows(json, name + "_link", matrix.binding_link);
  }
  json.end_object();
}

void write_nearest(JsonWriter& json, Report& report) {
  const std::map<int, int> nic = positions(report.graph.ids(NodeKind::Nic));
  json.begin_list("nearest_nics", Layout::Lines);
  for (int gpu : report.graph.ids(NodeKind::Gpu)) {
    json.begin_list();
    for (int id : report.locality.nearest_nics(gpu)) json.value(nic.at(id));
    json.end_list();
  }
  json.end_list();
}

void write_findings(JsonWriter& json, const Report& report) {
  json.begin_list("findings", Layout::Lines);
  for (const topology::audit::Finding& finding : report.findings) {
    json.begin_object();
    json.member("id", finding.id);
    json.member("severity", to_string(finding.severity));
    json.member("subject", finding.subject);
    json.member("evidence", finding.evidence);
    json.member("fix", finding.fix);
    json.member("reference", finding.reference);
    json.end_object();
  }
  json.end_list();
}

void write_unknown(JsonWriter& json, const Report& report) {
  json.begin_list("unknown", Layout::Lines);
  for (const Unknown& unknown : report.unknown) {
    json.begin_object();
    json.member("what", unknown.what);
    json.member("subject", unknown.subject);
    json.member("why", unknown.why);
    json.end_object();
  }
  json.end_list();
}

void write_rings(JsonWriter& json, Report& report) {
  const Rings& rings = *report.rings;
  json.begin_object("rings", Layout::Lines);
  json.begin_list("ranks", Layout::Lines);
  for (std::size_t rank = 0; rank < rings.placement.size(); ++rank) {
    const Node& node = report.locality.node(rings.placement[rank]);
    json.begin_object();
    json.member("rank", rank);
    json.member("host", node.host);
    json.member("node", node.name);
    json.end_object();
  }
  json.end_list();
  write_rows(json, "rings", rings.group.rings);
  const std::vector<topology::RingRate> rates =
      ring_rates(report.graph, report.locality.finder(), rings.placement, rings.group.rings);
  json.begin_list("ring_gbs");
  for (const topology::RingRate& rate : rates) json.value(rate.shared.gbs);
  json.end_list();
  json.member("total_gbs", total_gbs(rates));
  json.begin_list("trees", Layout::Lines);
  for (const Tree& tree : rings.group.trees) {
    json.begin_object();
    json.member("root", tree.root);
    json.member("parent", tree.parent);
    json.end_object();
  }
  json.end_list();
  write_rows(json, "hosts", rings.group.hosts);
  json.end_object();
}

void write_advice(JsonWriter& json, Report& report) {
  if (report.with_bindings) {
    json.key("bindings");
    write_bindings(json, topology::advice::bind_hosts(report.survey, report.locality), report.locality);
  }
  if (report.with_environment) {
    json.key("environment_advice");
    topology::advice::write_environment(json, report.survey, report.locality);
  }
}

}  // namespace

std::string report_json(Report& report) {
  const Graph& graph = report.graph;
  const topology::Totals totals = topology::totals_of(graph);
  JsonWriter json;
  json.begin_object(Layout::Lines);
  json.member("schema", 1);
  json.member("name", graph.name);
  json.member("hosts", graph.hosts());
  json.member("fingerprint", fingerprint(graph));
  write_cpu_parts(json, "packages", graph, NodeKind::Package);
  json.member("cores", totals.cores);
  json.member("pus", totals.cpus);
  write_cpu_parts(json, "numa_nodes", graph, NodeKind::Numa);
  write_cpu_parts(json, "core_groups", graph, NodeKind::CoreGroup);
  write_devices(json, "gpus", report, NodeKind::Gpu);
  write_devices(json, "nics", report, NodeKind::Nic);
  write_devices(json, "storage", report, NodeKind::Storage);
  write_matrices(json, report.matrices);
  write_links(json, graph);
  write_nearest(json, report);
  write_findings(json, report);
  write_unknown(json, report);
  if (report.rings) write_rings(json, report);
  write_advice(json, report);
  write_measured(json, report);
  write_survey(json, report.survey);
  json.end_object();
  return std::move(json).text();
}

}  // namespace weft::topo_probe
