// Reads a graph from JSON, strictly: what schema 1 does not say is refused with its place, never skipped. Input may
// come from anywhere, so size and nesting are bounded and nothing in it is trusted before check().
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "topology/limits.hpp"
#include "topology/names.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxNames = 256;  // further names of one node

Status corrupt(std::string message) { return Status(Code::Corrupt, "topology JSON: " + std::move(message)); }

// First pass over the text, without building anything: its form, its nesting, and members given twice.
class FormCheck {
 public:
  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(std::int64_t) { return true; }
  bool number_unsigned(std::uint64_t) { return true; }
  bool number_float(double, const std::string&) { return true; }
  bool string(std::string&) { return true; }
  bool binary(Json::binary_t&) { return true; }
  bool start_object(std::size_t) { return open(); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (members_.back().insert(name).second) return true;
    complaint_ = fmt::format("member \"{}\" is given twice", name.substr(0, 64));
    return false;
  }
  bool parse_error(std::size_t byte, const std::string&, const Json::exception&) {
    complaint_ = fmt::format("not JSON at byte {}", byte);
    return false;
  }
  const std::string& complaint() const { return complaint_; }

 private:
  bool open() {
    members_.emplace_back();
    if (members_.size() <= kMaxDepth) return true;
    complaint_ = fmt::format("nested more than {} deep", kMaxDepth);
    return false;
  }
  bool close() {
    members_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> members_;  // of the objects and arrays that are open
  std::string complaint_;
};

// Text to a document. (The library's own hook for both passes in one is quadratic in long lists.)
Result<Json> parse(std::string_view text) {
  FormCheck form;
  if (!Json::sax_parse(text, &form)) return corrupt(form.complaint());
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return corrupt("not JSON");
  return json;
}

// One object being read: takes its members by name with their type, remembers the first error, and finds what nobody
// asked for.
class Reader {
 public:
  Reader(const Json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object_.is_object()) fail(fmt::format("{} is not an object", place_));
  }

  template <typename T>
  void required(const char* key, T& target) {
    if (const Json* value = take(key))
      read(key, *value, target);
    else
      fail(fmt::format("{} lacks \"{}\"", place_, key));
  }
  template <typename T>
  void optional(const char* key, T& target) {
    if (const Json* value = take(key)) read(key, *value, target);
  }
  template <typename T>
  void optional(const char* key, std::optional<T>& target) {
    T read_value{};
    const Json* value = take(key);
    if (value == nullptr) return;
    read(key, *value, read_value);
    target = std::move(read_value);
  }
  const Json* take(const char* key) {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(key);
    if (found == object_.end()) return nullptr;
    ++taken_;
    known_.push_back(key);
    return &*found;
  }
  void fail(std::string message) {
    if (status_.ok()) status_ = corrupt(std::move(message));
  }
  void wrong(const char* key, std::string_view wanted) {
    fail(fmt::format("{}: \"{}\" is not {}", place_, key, wanted));
  }

  Status finish() {
    if (status_.ok() && object_.size() != taken_) {
      for (const auto& [key, value] : object_.items())
        if (std::find(known_.begin(), known_.end(), key) == known_.end())
          fail(fmt::format("{} has the unknown member \"{}\"", place_, key.substr(0, 64)));
    }
    return status_;
  }

 private:
  void read(const char* key, const Json& value, int& target) {
    constexpr std::int64_t kLeast = std::numeric_limits<int>::min();
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    const bool small = value.is_number_unsigned() ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(kMost)
                                                  : value.is_number_integer() && value.get<std::int64_t>() >= kLeast;
    if (!small) return wrong(key, "a whole number of int's range");
    target = static_cast<int>(value.get<std::int64_t>());
  }
  void read(const char* key, const Json& value, std::uint64_t& target) {
    if (!value.is_number_unsigned()) return wrong(key, "a whole number from 0");
    target = value.get<std::uint64_t>();
  }
  void read(const char* key, const Json& value, double& target) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) return wrong(key, "a number");
    target = value.get<double>();
  }
  void read(const char* key, const Json& value, bool& target) {
    if (!value.is_boolean()) return wrong(key, "true or false");
    target = value.get<bool>();
  }
  void read(const char* key, const Json& value, std::string& target) {
    if (!value.is_string()) return wrong(key, "a text");
    target = value.get<std::string>();
  }
  void read(const char* key, const Json& value, std::vector<std::string>& target) {
    if (!value.is_array() || value.size() > kMaxNames) return wrong(key, "a list of texts");
    for (const Json& item : value) {
      if (!item.is_string()) return wrong(key, "a list of texts");
      target.push_back(item.get<std::string>());
    }
  }
  void read(const char* key, const Json& value, NodeKind& target) {
    const std::optional<NodeKind> kind = value.is_string() ? parse_node_kind(value.get<std::string>()) : std::nullopt;
    if (!kind) return wrong(key, "a kind of node");
    target = *kind;
  }
  void read(const char* key, const Json& value, LinkKind& target) {
    const std::optional<LinkKind> kind = value.is_string() ? parse_link_kind(value.get<std::string>()) : std::nullopt;
    if (!kind) return wrong(key, "a kind of link");
    target = *kind;
  }

  const Json& object_;
  std::string place_;
  Status status_;
  std::size_t taken_ = 0;
  std::vector<std::string> known_;
};

Status read_pci(const Json& json, std::string place, PciLink& pci) {
  Reader reader(json, std::move(place));
  reader.optional("gts", pci.gts);
  reader.optional("width", pci.width);
  reader.optional("max_gts", pci.max_gts);
  reader.optional("max_width", pci.max_width);
  return reader.finish();
}

Status read_node(const Json& json, std::string place, Node& node) {
  Reader reader(json, place);
  reader.required("id", node.id);
  reader.required("kind", node.kind);
  reader.required("name", node.name);
  reader.required("parent", node.parent);
  reader.required("host", node.host);
  reader.optional("os_index", node.os_index);
  reader.optional("bus_id", node.bus_id);
  reader.optional("device", node.device);
  reader.optional("model", node.model);
  reader.optional("names", node.names);
  reader.optional("cpus", node.cpus);
  reader.optional("cores", node.cores);
  reader.optional("memory_bytes", node.memory_bytes);
  reader.optional("fabric", node.fabric);
  reader.optional("network_gbs", node.network_gbs);
  reader.optional("active", node.active);
  reader.optional("loopback_gbs", node.loopback_gbs);
  reader.optional("loopback_us", node.loopback_us);
  if (const Json* pci = reader.take("pci")) WEFT_TRY(read_pci(*pci, place + ".pci", node.pci));
  return reader.finish();
}

Status read_link(const Json& json, std::string place, Link& link) {
  Reader reader(json, std::move(place));
  reader.required("a", link.a);
  reader.required("b", link.b);
  reader.required("kind", link.kind);
  reader.required("bandwidth_gbs", link.bandwidth_gbs);
  reader.required("latency_us", link.latency_us);
  reader.optional("count", link.count);
  reader.required("source", link.source);
  return reader.finish();
}

template <typename Item, typename Read>
Status read_list(const Json* list, std::string_view name, std::size_t most, std::vector<Item>& items, Read read) {
  if (list == nullptr || !list->is_array()) return corrupt(fmt::format("\"{}\" is not a list", name));
  if (list->size() > most)
    return corrupt(fmt::format("\"{}\" has {} entries, the most is {}", name, list->size(), most));
  items.resize(list->size());
  for (std::size_t i = 0; i < items.size(); ++i) WEFT_TRY(read((*list)[i], fmt::format("{}[{}]", name, i), items[i]));
  return {};
}

Result<Graph> read_graph(const Json& json) {
  Reader reader(json, "the document");
  Graph graph;
  int schema = 0;
  reader.required("schema", schema);
  reader.required("name", graph.name);
  const Json* nodes = reader.take("nodes");
  const Json* links = reader.take("links");
  WEFT_TRY(reader.finish());
  if (schema != 1) return corrupt(fmt::format("schema {} is not 1, the only one this version reads", schema));
  WEFT_TRY(read_list(nodes, "nodes", kMaxNodes, graph.nodes, read_node));
  WEFT_TRY(read_list(links, "links", kMaxLinks, graph.links, read_link));
  if (const Status status = graph.check(); !status.ok()) return Status(Code::Corrupt, std::string(status.message()));
  return graph;
}

}  // namespace

Result<Graph> from_json(std::string_view text) {
  if (text.size() > kMaxFileBytes)
    return corrupt(fmt::format("{} bytes are more than the most, {}", text.size(), kMaxFileBytes));
  WEFT_TRY_ASSIGN(const Json json, parse(text));
  // A report of topo-probe holds the graph it was made of.
  if (json.is_object() && json.contains("graph")) return read_graph(json["graph"]);
  return read_graph(json);
}

}  // namespace weft::topology
