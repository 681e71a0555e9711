// Reads a graph from JSON, strictly: what schema 1 does not say is refused with its place, never skipped. Input may
// come from anywhere, so size and nesting are bounded and nothing in it is trusted before check().
#include "topology/json_read.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "topology/names.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using base::JsonDocument;
using base::JsonObject;
using base::JsonValue;

constexpr int kSchema = 1;
constexpr std::size_t kMaxNames = 256;      // further names of one node
constexpr std::size_t kNamesOfNode = 8;     // many, on average
constexpr std::size_t kManyNames = 65'536;  // in all: fewer need no average

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
  object.optional_by("count", [&](const JsonValue& count) {
    if (!count.is_null()) return count.read(link.count, 1);
    link.count = 0;
    return Status();
  });
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

// Any member but the lists, of which only the kind is looked at: their elements were read before.
Status read_rest(const JsonValue& document, Graph& graph) {
  int schema = 0;
  JsonObject object(document);
  object.required("schema", schema, kSchema, kSchema);
  object.required("name", graph.name);
  const auto is_list = [](const JsonValue& list) { return list.check_list(0); };
  object.required_by("nodes", is_list);
  object.required_by("links", is_list);
  object.optional_by("stated", is_list);
  return object.finish();
}

Status wrong(std::string_view complaint) { return Status(Code::Corrupt, fmt::format("topology JSON: {}", complaint)); }

}  // namespace

base::JsonPlan bounded_plan() {
  base::JsonPlan plan;
  plan.most_values = std::size_t{1} << 17;
  plan.most_word_bytes = std::size_t{1} << 20;
  return plan;
}

GraphReader::GraphReader(Graph& graph, Reading reading)
    : graph_(graph),
      reading_(reading),
      nodes_(graph.nodes, reading),
      links_(graph.links, Reading::Keep),
      stated_(graph.stated, Reading::Keep) {}

Status GraphReader::read_node(const JsonValue& value) {
  Node& node = nodes_.next();
  WEFT_TRY(topology::read_node(value, node));
  hosts_ += node.kind == NodeKind::Machine ? 1 : 0;
  switches_ += node.kind == NodeKind::NetworkSwitch ? 1 : 0;
  names_ += node.names.size();
  if (names_ > kManyNames && names_ > kNamesOfNode * nodes_.count())
    return value.wrong(fmt::format("and those before it have {} further names, too many", names_));
  return {};
}

void GraphReader::add_lists(base::JsonPlan& plan, bool of_document) {
  // The lists keep what `read` gives them: this reader.
  const auto add = [&](std::string_view path, std::size_t most, auto read) {
    plan.lists.push_back({path, most, [this, of_document, read](const JsonValue& value) {
                            lists_of_document_ = lists_of_document_ || of_document;
                            return read(value);
                          }});
    if (reading_ == Reading::Complete && !path.ends_with("nodes")) plan.lists.back().read_one = nullptr;
  };
  add(of_document ? "nodes" : "graph.nodes", kMaxNodes, [this](const JsonValue& value) { return read_node(value); });
  add(of_document ? "links" : "graph.links", kMaxLinks,
      [this](const JsonValue& value) { return read_link(value, links_.next()); });
  add(of_document ? "stated" : "graph.stated", kMaxLinks,
      [this](const JsonValue& value) { return read_stated(value, stated_.next()); });
}

void GraphReader::add_to(base::JsonPlan& plan) {
  for (const char* member : {"schema", "name", "nodes", "links", "stated", "graph"}) plan.kept.emplace_back(member);
  add_lists(plan, true);
  add_lists(plan, false);
}

// What check() finds, as far as it can be told by counting.
Status GraphReader::check_counts() const {
  if (hosts_ == 0) return wrong("there is no machine");
  if (links_.count() + hosts_ + switches_ < nodes_.count())
    return wrong(
        fmt::format("{} nodes have {} links: not all have a path to their machine", nodes_.count(), links_.count()));
  return {};
}

Status GraphReader::finish(const JsonValue& document) {
  const std::optional<JsonValue> graph = document.member("graph");
  if (graph && lists_of_document_) return document.wrong("has nodes, links or stated classes beside its graph");
  WEFT_TRY(read_rest(graph ? *graph : document, graph_));
  if (reading_ == Reading::Check) {
    graph_.nodes.reserve(nodes_.count());  // for who completes it
    return check_counts();
  }
  if (const Status status = graph_.check(); !status.ok()) return Status(Code::Corrupt, std::string(status.message()));
  return {};
}

Result<Graph> from_json(std::string_view text) {
  Graph graph;
  GraphReader reader(graph, Reading::Keep);
  base::JsonPlan plan = bounded_plan();
  reader.add_to(plan);
  // A report of topo-probe holds the graph it was made of, and much besides.
  WEFT_TRY_ASSIGN(const JsonDocument document, JsonDocument::parse("topology JSON", text, plan));
  WEFT_TRY(reader.finish(document.root()));
  return graph;
}

}  // namespace weft::topology
