// A graph in the language of Graphviz.
#include "topology/export/dot.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <vector>

#include "topology/export/bandwidth_bands.hpp"
#include "topology/node_names.hpp"
#include "topology/sources.hpp"
#include "topology/storage.hpp"

namespace weft::topology {
namespace {

// A label: foreign text on one line, without what Graphviz would take for an escape of its own.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : as_plain_text(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string_view shape_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::Gpu:
      return "box3d";
    case NodeKind::Nic:
      return "component";
    case NodeKind::PciSwitch:
    case NodeKind::NvSwitch:
    case NodeKind::NetworkSwitch:
      return "hexagon";
    case NodeKind::Machine:
    case NodeKind::Package:
    case NodeKind::Numa:
      return "plaintext";
    default:
      return "box";
  }
}

class DotWriter {
 public:
  explicit DotWriter(const Graph& graph) : graph_(graph), storage_(graph), children_(graph.nodes.size()) {
    for (const Node& node : graph.nodes)
      if (node.parent >= 0 && !storage_.contains(node.id))
        children_[static_cast<std::size_t>(node.parent)].push_back(node.id);
  }

  std::string text() {
    out_ = fmt::format("graph {} {{\n  rankdir=LR; compound=true; node [fontsize=10]; edge [fontsize=8];\n",
                       quoted(graph_.name));
    for (const Node& node : graph_.nodes)
      if (node.parent < 0) write(node, 1);
    for (const Link& link : graph_.links)
      if (!storage_.contains(link.a) && !storage_.contains(link.b)) write(link);
    // Without weight: Graphviz 2.43 cannot rank some machines with such an edge ("trouble in init_rank").
    for (const Node& node : graph_.nodes)
      if (!storage_.below(node.id).empty())
        out_ += fmt::format("  n{} -- s{} [style=dotted, weight=0];\n", node.id, node.id);
    return out_ + "}\n";
  }

 private:
  void write(const Node& node, std::size_t depth) {
    const std::string indent(2 * depth, ' ');
    const bool box = node.kind == NodeKind::Machine || node.kind == NodeKind::Package || node.kind == NodeKind::Numa;
    if (box)
      out_ += fmt::format("{}subgraph cluster_{} {{\n{}  label={};\n", indent, node.id, indent, quoted(node.name));
    std::string label = node.name;
    if (!node.bus_id.empty() && node.bus_id != node.name) label += " " + node.bus_id;
    if (!node.model.empty()) label += " " + node.model;
    out_ += fmt::format("{}{}n{} [label={}, shape={}];\n", indent, box ? "  " : "", node.id, quoted(label),
                        shape_of(node.kind));
    for (int child : children_[static_cast<std::size_t>(node.id)])
      write(graph_.nodes[static_cast<std::size_t>(child)], depth + (box ? 1 : 0));
    write_storage(node.id, indent + (box ? "  " : ""));
    if (box) out_ += indent + "}\n";
  }

  // One box for all storage below a node.
  void write_storage(int node, const std::string& indent) {
    const std::vector<int>& storage = storage_.below(node);
    if (storage.empty()) return;
    const std::string label = fmt::format("{}: {}", storage_count(storage.size()), storage_names(graph_, storage));
    out_ += fmt::format("{}s{} [label={}, shape=cylinder];\n", indent, node, quoted(label));
  }

  void write(const Link& link) {
    const BandwidthBand& band = bandwidth_bands()[static_cast<std::size_t>(bandwidth_band(link.bandwidth_gbs))];
    const std::string times = link.count > 1 ? fmt::format("{} x ", link.count) : "";
    out_ += fmt::format("  n{} -- n{} [label={}, color=\"{}\", penwidth={:g}{}];\n", link.a, link.b,
                        quoted(fmt::format("{} {}{:.4g} GB/s", to_string(link.kind), times, link.lane_gbs())),
                        band.light, band.width, link.source == kAssumed ? ", style=dashed" : "");
  }

  const Graph& graph_;
  StorageParts storage_;
  std::vector<std::vector<int>> children_;
  std::string out_;
};

}  // namespace

std::string to_dot(const Graph& graph) { return DotWriter(graph).text(); }

}  // namespace weft::topology
