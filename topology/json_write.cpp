// A graph as JSON, schema 1 (docs/topology.md): one node or link per line, unknown and default values left out.
#include <optional>
#include <string>

#include "base/json_writer.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using base::JsonWriter;

template <typename T>
void put(JsonWriter& json, std::string_view name, const std::optional<T>& value) {
  if (value) json.member(name, *value);
}
void put(JsonWriter& json, std::string_view name, const std::string& value) {
  if (!value.empty()) json.member(name, value);
}

void write_pci(JsonWriter& json, const PciLink& pci) {
  if (pci == PciLink()) return;
  json.begin_object("pci");
  put(json, "gts", pci.gts);
  put(json, "width", pci.width);
  put(json, "max_gts", pci.max_gts);
  put(json, "max_width", pci.max_width);
  json.end_object();
}

void write_node(JsonWriter& json, const Node& node) {
  json.begin_object();
  json.member("id", node.id);
  json.member("kind", to_string(node.kind));
  json.member("name", node.name);
  json.member("parent", node.parent);
  json.member("host", node.host);
  put(json, "os_index", node.os_index);
  put(json, "bus_id", node.bus_id);
  put(json, "device", node.device);
  put(json, "model", node.model);
  if (!node.names.empty()) json.member("names", node.names);
  put(json, "cpus", node.cpus);
  put(json, "cores", node.cores);
  put(json, "memory_bytes", node.memory_bytes);
  write_pci(json, node.pci);
  if (node.fabric) json.member("fabric", true);
  put(json, "network_gbs", node.network_gbs);
  put(json, "active", node.active);
  put(json, "loopback_gbs", node.loopback_gbs);
  put(json, "loopback_us", node.loopback_us);
  json.end_object();
}

void write_link(JsonWriter& json, const Link& link) {
  json.begin_object();
  json.member("a", link.a);
  json.member("b", link.b);
  json.member("kind", to_string(link.kind));
  json.member("bandwidth_gbs", link.bandwidth_gbs);
  json.member("latency_us", link.latency_us);
  if (link.count != 1) json.member("count", link.count == 0 ? std::optional<int>() : link.count);
  json.member("source", link.source);
  json.end_object();
}

void write_stated(JsonWriter& json, const StatedClass& stated) {
  json.begin_object();
  json.member("a", stated.a);
  json.member("b", stated.b);
  json.member("class", to_string(stated.path_class));
  json.end_object();
}

}  // namespace

std::string to_json(const Graph& graph) {
  JsonWriter json;
  json.begin_object(JsonWriter::Layout::Lines);
  json.member("schema", 1);
  json.member("name", graph.name);
  json.begin_list("nodes", JsonWriter::Layout::Lines);
  for (const Node& node : graph.nodes) write_node(json, node);
  json.end_list();
  json.begin_list("links", JsonWriter::Layout::Lines);
  for (const Link& link : graph.links) write_link(json, link);
  json.end_list();
  if (!graph.stated.empty()) {
    json.begin_list("stated", JsonWriter::Layout::Lines);
    for (const StatedClass& stated : graph.stated) write_stated(json, stated);
    json.end_list();
  }
  json.end_object();
  return std::move(json).text();
}

}  // namespace weft::topology
