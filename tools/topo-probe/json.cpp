// The report as JSON, schema 1 (docs/topology.md). Unknown is null.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "report.hpp"
#include "topology/cpu_set.hpp"

namespace weft::topo_probe {
namespace {

using Json = nlohmann::ordered_json;
using topology::Graph;
using topology::Link;
using topology::LinkKind;
using topology::Node;
using topology::NodeKind;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json cpu_json(const Node& node) {
  return {{"name", node.name},
          {"host", node.host},
          {"os_index", or_null(node.os_index)},
          {"cpus", node.cpus},
          {"cores", or_null(node.cores)}};
}

Json cpu_parts(const Graph& graph, NodeKind kind) {
  Json list = Json::array();
  for (int id : graph.ids(kind)) {
    const Node& node = graph.nodes[static_cast<std::size_t>(id)];
    list.push_back(cpu_json(node));
    if (kind == NodeKind::Package) list.back()["model"] = or_null(node.model);
    if (kind == NodeKind::Numa) list.back()["memory_bytes"] = or_null(node.memory_bytes);
  }
  return list;
}

Json pcie_json(const topology::Locality& locality, const Node& node) {
  const int above = locality.upstream_bridge(node.id);
  return {{"gts", or_null(node.pci.gts)},
          {"width", or_null(node.pci.width)},
          {"max_gts", or_null(node.pci.max_gts)},
          {"max_width", or_null(node.pci.max_width)},
          {"gbs", or_null(locality.pci_link_gbs(node.id))},
          {"upstream_gbs", above < 0 ? Json(nullptr) : or_null(locality.pci_link_gbs(above))}};
}

Json device_json(const topology::Locality& locality, int id) {
  const Node& node = locality.node(id);
  Json numa = Json::array();
  for (int near : locality.numa_nodes_of(id)) numa.push_back(locality.node(near).os_index.value_or(-1));
  Json names = Json::array();
  for (const std::string& name : node.names) names.push_back(name);
  if (node.names.empty()) names.push_back(node.name);
  Json json = {{"name", node.name},
               {"host", node.host},
               {"bus_id", or_null(node.bus_id)},
               {"device", or_null(node.device)},
               {"model", or_null(node.model)},
               {"names", names},
               {"numa", numa},
               {"cpus", node.cpus},
               {"pcie", pcie_json(locality, node)}};
  if (node.kind == NodeKind::Nic) {
    json["fabric"] = node.fabric;
    json["active"] = or_null(node.active);
    json["network_gbs"] = or_null(node.network_gbs);
  }
  return json;
}

Json devices(const Report& report, NodeKind kind) {
  Json list = Json::array();
  for (int id : report.graph.ids(kind)) list.push_back(device_json(report.locality, id));
  return list;
}

std::map<int, int> positions(const std::vector<int>& ids) {
  std::map<int, int> position;
  for (std::size_t i = 0; i < ids.size(); ++i) position[ids[i]] = static_cast<int>(i);
  return position;
}

Json links_json(const Graph& graph) {
  const std::map<int, int> gpu = positions(graph.ids(NodeKind::Gpu));
  Json nvlink = Json::array();
  Json xgmi = Json::array();
  std::map<int, int> to_switch;
  for (const Link& link : graph.links) {
    if (link.kind != LinkKind::NvLink && link.kind != LinkKind::Xgmi) continue;
    const bool a = gpu.contains(link.a);
    const bool b = gpu.contains(link.b);
    if (a && b)
      (link.kind == LinkKind::Xgmi ? xgmi : nvlink)
          .push_back(
              {{"a", gpu.at(link.a)}, {"b", gpu.at(link.b)}, {"count", link.count}, {"gbs", link.bandwidth_gbs}});
    const int other = a ? link.b : link.a;
    if (a != b && graph.nodes[static_cast<std::size_t>(other)].kind == NodeKind::NvSwitch)
      to_switch[gpu.at(a ? link.a : link.b)] += link.count;
  }
  Json nvlink_switch = Json::array();
  for (const auto& [position, count] : to_switch) nvlink_switch.push_back({{"gpu", position}, {"count", count}});
  return {{"nvlink", nvlink}, {"xgmi", xgmi}, {"nvlink_switch", nvlink_switch}};
}

Json matrices_json(const Report& report) {
  if (!report.matrices) return nullptr;
  const Matrices& m = *report.matrices;
  return {{"gpu_gpu", m.gpu_gpu.classes},           {"gpu_gpu_pcie", m.gpu_gpu_pcie.classes},
          {"gpu_nic", m.gpu_nic.classes},           {"nic_nic", m.nic_nic.classes},
          {"gpu_gpu_gbs", m.gpu_gpu.bandwidth_gbs}, {"gpu_nic_gbs", m.gpu_nic.bandwidth_gbs}};
}

Json nearest_json(Report& report) {
  const std::map<int, int> nic = positions(report.graph.ids(NodeKind::Nic));
  Json list = Json::array();
  for (int gpu : report.graph.ids(NodeKind::Gpu)) {
    Json near = Json::array();
    for (int id : report.locality.nearest_nics(gpu)) near.push_back(nic.at(id));
    list.push_back(std::move(near));
  }
  return list;
}

Json findings_json(const Report& report) {
  Json list = Json::array();
  for (const topology::audit::Finding& finding : report.findings)
    list.push_back({{"id", finding.id},
                    {"severity", to_string(finding.severity)},
                    {"subject", finding.subject},
                    {"evidence", finding.evidence},
                    {"fix", finding.fix}});
  return list;
}

Json rings_json(const Report& report) {
  const Rings& rings = *report.rings;
  Json ranks = Json::array();
  for (std::size_t rank = 0; rank < rings.placement.size(); ++rank) {
    const Node& node = report.locality.node(rings.placement[rank]);
    ranks.push_back({{"rank", rank}, {"host", node.host}, {"node", node.name}});
  }
  Json trees = Json::array();
  for (const Tree& tree : rings.group.trees) trees.push_back({{"root", tree.root}, {"parent", tree.parent}});
  return {{"ranks", ranks}, {"rings", rings.group.rings}, {"trees", trees}, {"hosts", rings.group.hosts}};
}

}  // namespace

std::string report_json(Report& report) {
  const Graph& graph = report.graph;
  long long cores = 0;
  std::size_t pus = 0;
  for (const Node& node : graph.nodes)
    if (node.kind == NodeKind::Machine) cores += node.cores.value_or(0), pus += topology::count_cpus(node.cpus);
  Json json = {{"schema", 1},
               {"name", graph.name},
               {"hosts", graph.hosts()},
               {"fingerprint", fingerprint(graph)},
               {"packages", cpu_parts(graph, NodeKind::Package)},
               {"cores", cores},
               {"pus", pus},
               {"numa_nodes", cpu_parts(graph, NodeKind::Numa)},
               {"core_groups", cpu_parts(graph, NodeKind::CoreGroup)},
               {"gpus", devices(report, NodeKind::Gpu)},
               {"nics", devices(report, NodeKind::Nic)},
               {"matrix", matrices_json(report)},
               {"links", links_json(graph)},
               {"nearest_nics", nearest_json(report)},
               {"findings", findings_json(report)}};
  if (report.rings) json["rings"] = rings_json(report);
  // The graph as the library writes it, so that the report can be read back: its last member, and its only nested text.
  std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace);
  text.resize(text.size() - 2);  // the closing "\n}"
  return text + ",\n  \"graph\": " + to_json(graph) + "}\n";
}

}  // namespace weft::topo_probe
