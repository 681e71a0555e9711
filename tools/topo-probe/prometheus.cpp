// The report in Prometheus' text format, for a node exporter's textfile collector. A value that is not known has no
// sample.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "report.hpp"
#include "topology/export/markup.hpp"
#include "topology/node_names.hpp"
#include "topology/sources.hpp"

namespace weft::topo_probe {
namespace {

using topology::Node;
using topology::NodeKind;
using Labels = std::vector<std::pair<std::string_view, std::string>>;

// One metric: its lines stand together, below its HELP and TYPE.
class Metric {
 public:
  Metric(std::string_view name, std::string_view help, std::string_view type = "gauge") : name_(name) {
    text_ = fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }

  void add(const Labels& labels, double value) {
    text_ += name_;
    char separator = '{';
    for (const auto& [label, of_it] : labels) {
      text_ += fmt::format("{}{}=\"{}\"", separator, label, topology::label_value(of_it));
      separator = ',';
    }
    text_ += fmt::format("{} {}\n", !labels.empty() ? "}" : "", value);
    ++samples_;
  }

  // Nothing where there is no sample.
  std::string text() const { return samples_ > 0 ? text_ : ""; }

 private:
  std::string name_;
  std::string text_;
  int samples_ = 0;
};

constexpr double kBytesInGb = 1e9;

class Exposition {
 public:
  explicit Exposition(const Report& report) : report_(report) {}

  std::string text() { return info() + counts() + links() + nics() + findings() + unknowns(); }

 private:
  std::string host(const Node& node) const {
    const auto& known = report_.survey.facts(node.host).hostname;
    return known ? *known : fmt::format("host{}", node.host);
  }

  std::string info() const {
    Metric metric("weft_topology_info", "The graph's name and fingerprint, which is equal for like machines.");
    metric.add(
        {{"name", report_.graph.name}, {"fingerprint", fingerprint(report_.graph)}, {"source", report_.survey.source}},
        1);
    return metric.text();
  }

  std::string counts() const {
    Metric metric("weft_topology_devices", "Number of parts of each kind on a host.");
    constexpr NodeKind kKinds[] = {NodeKind::Package, NodeKind::Numa, NodeKind::PciSwitch, NodeKind::Gpu,
                                   NodeKind::Nic};
    std::map<std::pair<int, NodeKind>, int> count;
    for (const Node& node : report_.graph.nodes) ++count[{node.host, node.kind}];
    for (int machine : report_.graph.ids(NodeKind::Machine)) {
      const Node& of = report_.locality.node(machine);
      for (NodeKind kind : kKinds)
        if (tells(of.host, kind, count[{of.host, kind}]))
          metric.add({{"host", host(of)}, {"kind", std::string(to_string(kind))}}, count[{of.host, kind}]);
    }
    return metric.text();
  }

  // A source that shows none of these may not tell them. Whatever a model does not have does not exist.
  bool tells(int host, NodeKind kind, int count) const {
    if (count > 0 || report_.survey.source == topology::kModelSource) return true;
    if (kind == NodeKind::Gpu || kind == NodeKind::Nic) return true;
    const auto& nodes = report_.graph.nodes;
    return kind == NodeKind::PciSwitch && std::any_of(nodes.begin(), nodes.end(), [host](const Node& node) {
             return node.host == host && !node.bus_id.empty();
           });
  }

  std::string links() const {
    Metric now("weft_pcie_link_bytes_per_second",
               "What the PCIe link of a GPU or NIC carries each way as it runs now.");
    Metric width("weft_pcie_link_width_lanes", "Lanes of the PCIe link of a GPU or NIC now.");
    Metric most("weft_pcie_link_max_width_lanes", "Lanes that the GPU or NIC could use.");
    for (const Node& node : report_.graph.nodes) {
      if (node.kind != NodeKind::Gpu && node.kind != NodeKind::Nic) continue;
      const Labels labels = {{"host", host(node)}, {"device", node.name}, {"bus_id", node.bus_id}};
      if (const auto gbs = report_.locality.pci_link_gbs(node.id)) now.add(labels, *gbs * kBytesInGb);
      if (node.pci.width) width.add(labels, *node.pci.width);
      if (node.pci.max_width) most.add(labels, *node.pci.max_width);
    }
    return now.text() + width.text() + most.text();
  }

  std::string nics() const {
    Metric up("weft_nic_up", "Whether a port of the NIC is up.");
    Metric rate("weft_nic_bytes_per_second", "What the NIC's ports carry each way.");
    Metric errors("weft_nic_port_errors_total", "Error counters of RDMA ports since boot.", "counter");
    for (int id : report_.graph.ids(NodeKind::Nic)) {
      const Node& node = report_.locality.node(id);
      const Labels labels = {{"host", host(node)}, {"device", node.name}, {"bus_id", node.bus_id}};
      if (node.active) up.add(labels, *node.active ? 1 : 0);
      if (node.network_gbs) rate.add(labels, *node.network_gbs * kBytesInGb);
      const topology::DeviceFacts* facts = report_.survey.facts(node.host).device(node.name);
      if (facts == nullptr) continue;
      for (const topology::PortFacts& port : facts->ports)
        for (const topology::Counter& counter : port.errors)
          errors.add({{"host", host(node)},
                      {"device", node.name},
                      {"port", fmt::format("{}", port.number)},
                      {"counter", counter.name}},
                     static_cast<double>(counter.value));
    }
    return up.text() + rate.text() + errors.text();
  }

  // Equal labels twice are no valid exposition: findings of one rule about one subject are counted.
  std::string findings() const {
    Metric metric("weft_topology_finding", "Findings of the audit, by rule, severity and subject.");
    std::map<std::tuple<std::string, std::string, std::string>, int> count;
    for (const topology::audit::Finding& finding : report_.findings)
      ++count[{std::string(finding.id), std::string(to_string(finding.severity)),
               topology::as_plain_text(finding.subject)}];
    for (const auto& [key, number] : count) {
      const auto& [id, severity, subject] = key;
      metric.add({{"id", id}, {"severity", severity}, {"subject", subject}}, number);
    }
    Metric totals("weft_topology_findings", "Number of findings of the audit, by severity.");
    for (auto severity :
         {topology::audit::Severity::Info, topology::audit::Severity::Warning, topology::audit::Severity::Error}) {
      int number = 0;
      for (const topology::audit::Finding& finding : report_.findings) number += finding.severity == severity ? 1 : 0;
      totals.add({{"severity", std::string(to_string(severity))}}, number);
    }
    return metric.text() + totals.text();
  }

  std::string unknowns() const {
    Metric metric("weft_topology_unknown", "Number of things that could not be read, by what they are.");
    std::map<std::string, int> count;
    for (const Unknown& unknown : report_.unknown) ++count[unknown.what];
    for (const auto& [what, number] : count) metric.add({{"what", what}}, number);
    return metric.text();
  }

  const Report& report_;
};

}  // namespace

std::string report_prometheus(const Report& report) { return Exposition(report).text(); }

}  // namespace weft::topo_probe
