// A graph as JSON, schema 1 (docs/topology.md): one node or link per line, unknown and default values left out.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
void put(Json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}
void put(Json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

Json node_json(const Node& node) {
  Json j;
  j["id"] = node.id;
  j["kind"] = to_string(node.kind);
  j["name"] = node.name;
  j["parent"] = node.parent;
  j["host"] = node.host;
  put(j, "os_index", node.os_index);
  put(j, "bus_id", node.bus_id);
  put(j, "device", node.device);
  put(j, "model", node.model);
  if (!node.names.empty()) j["names"] = node.names;
  put(j, "cpus", node.cpus);
  put(j, "cores", node.cores);
  put(j, "memory_bytes", node.memory_bytes);
  Json pci = Json::object();
  put(pci, "gts", node.pci.gts);
  put(pci, "width", node.pci.width);
  put(pci, "max_gts", node.pci.max_gts);
  put(pci, "max_width", node.pci.max_width);
  if (!pci.empty()) j["pci"] = std::move(pci);
  if (node.fabric) j["fabric"] = true;
  put(j, "network_gbs", node.network_gbs);
  put(j, "active", node.active);
  put(j, "loopback_gbs", node.loopback_gbs);
  put(j, "loopback_us", node.loopback_us);
  return j;
}

Json link_json(const Link& link) {
  Json j;
  j["a"] = link.a;
  j["b"] = link.b;
  j["kind"] = to_string(link.kind);
  j["bandwidth_gbs"] = link.bandwidth_gbs;
  j["latency_us"] = link.latency_us;
  if (link.count != 1) j["count"] = link.count;
  j["source"] = link.source;
  return j;
}

// Text from another program may not be UTF-8; what is not becomes U+FFFD, nothing throws.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

template <typename Range, typename ToJson>
void append_lines(std::string& out, const Range& range, ToJson to_json) {
  const char* separator = "\n  ";
  for (const auto& item : range) {
    out += separator + text_of(to_json(item));
    separator = ",\n  ";
  }
}

}  // namespace

std::string to_json(const Graph& graph) {
  std::string out = "{\"schema\": 1, \"name\": " + text_of(Json(graph.name)) + ",\n \"nodes\": [";
  append_lines(out, graph.nodes, node_json);
  out += "],\n \"links\": [";
  append_lines(out, graph.links, link_json);
  return out + "]}\n";
}

}  // namespace weft::topology
