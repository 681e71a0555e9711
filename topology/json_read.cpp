// Reads a graph from JSON, strictly: what schema 1 does not say is refused with its place, never skipped. Input may
// come from anywhere, so size and nesting are bounded and nothing in it is trusted before check().
#include "topology/json_read.hpp"

#include <optional>
#include <string>
#include <vector>

#include "topology/limits.hpp"
#include "topology/names.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using base::JsonDocument;
using base::JsonObject;
using base::JsonValue;

constexpr int kSchema = 1;
constexpr std::size_t kMaxNames = 256;  // further names of one node

Status read_pci(const JsonValue& value, PciLink& pci) {
  JsonObject object(value);
  object.optional("gts", pci.gts);
  object.optional("width", pci.width);
  object.optional("max_gts", pci.max_gts);
  object.optional("max_width", pci.max_width);
  return object.finish();
}

Status read_node(const JsonValue& value, Node& node) {
  JsonObject object(value);
  object.required("id", node.id);
  object.required_by(
      "kind", [&](const JsonValue& name) { return name.read_name(node.kind, parse_node_kind, "a kind of node"); });
  object.required("name", node.name);
  object.required("parent", node.parent);
  object.required("host", node.host);
  object.optional("os_index", node.os_index);
  object.optional("bus_id", node.bus_id);
  object.optional("device", node.device);
  object.optional("model", node.model);
  object.optional_by("names", [&](const JsonValue& names) {
    return names.read_list(kMaxNames, [&](const JsonValue& name) { return name.read(node.names.emplace_back()); });
  });
  object.optional("cpus", node.cpus);
  object.optional("cores", node.cores);
  object.optional("memory_bytes", node.memory_bytes);
  object.optional("fabric", node.fabric);
  object.optional("network_gbs", node.network_gbs);
  object.optional("active", node.active);
  object.optional("loopback_gbs", node.loopback_gbs);
  object.optional("loopback_us", node.loopback_us);
  object.optional_by("pci", [&](const JsonValue& pci) { return read_pci(pci, node.pci); });
  return object.finish();
}

Status read_link(const JsonValue& value, Link& link) {
  JsonObject object(value);
  object.required("a", link.a);
  object.required("b", link.b);
  object.required_by(
      "kind", [&](const JsonValue& name) { return name.read_name(link.kind, parse_link_kind, "a kind of link"); });
  object.required("bandwidth_gbs", link.bandwidth_gbs);
  object.required("latency_us", link.latency_us);
  object.optional("count", link.count);
  object.required("source", link.source);
  return object.finish();
}

Status read_stated(const JsonValue& value, StatedClass& stated) {
  JsonObject object(value);
  object.required("a", stated.a);
  object.required("b", stated.b);
  object.required_by("class", [&](const JsonValue& name) {
    return name.read_name(stated.path_class, parse_path_class, "a class of path");
  });
  return object.finish();
}

}  // namespace

Result<Graph> read_graph(const JsonValue& document) {
  Graph graph;
  int schema = 0;
  JsonObject object(document);
  object.required("schema", schema, kSchema, kSchema);
  object.required("name", graph.name);
  object.required_by("nodes", [&](const JsonValue& nodes) {
    return nodes.read_list(kMaxNodes,
                           [&](const JsonValue& node) { return read_node(node, graph.nodes.emplace_back()); });
  });
  object.required_by("links", [&](const JsonValue& links) {
    return links.read_list(kMaxLinks,
                           [&](const JsonValue& link) { return read_link(link, graph.links.emplace_back()); });
  });
  object.optional_by("stated", [&](const JsonValue& stated) {
    return stated.read_list(kMaxLinks,
                            [&](const JsonValue& pair) { return read_stated(pair, graph.stated.emplace_back()); });
  });
  WEFT_TRY(object.finish());
  if (const Status status = graph.check(); !status.ok()) return Status(Code::Corrupt, std::string(status.message()));
  return graph;
}

Result<Graph> from_json(std::string_view text) {
  WEFT_TRY_ASSIGN(const JsonDocument document, JsonDocument::parse("topology JSON", text));
  const JsonValue root = document.root();
  // A report of topo-probe holds the graph it was made of.
  const std::optional<JsonValue> graph = root.member("graph");
  return read_graph(graph ? *graph : root);
}

}  // namespace weft::topology
