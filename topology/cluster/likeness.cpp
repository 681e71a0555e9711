// The graph, then the facts, in the order of the survey.
#include "topology/cluster/likeness.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "base/fnv1a.hpp"
#include "topology/device_kinds.hpp"
#include "topology/diff/common_facts.hpp"
#include "topology/diff/flat_facts.hpp"
#include "topology/storage.hpp"

namespace weft::topology::cluster {
namespace {

// FNV-1a, twice with different starts: 128 bits, so that thousands of nodes do not meet by chance.
class Hash {
 public:
  void add(std::string_view text) {
    for (char c : text) add_byte(static_cast<unsigned char>(c));
    add_byte(0xff);  // in no UTF-8
  }
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    text_.clear();
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    add(std::string_view(text_));
  }
  template <typename T>
  void add_known(std::string_view name, const std::optional<T>& value) {
    if (value) add("{} {}", name, *value);
  }
  Likeness value() const { return {first_.value(), second_.value()}; }

 private:
  void add_byte(unsigned char byte) {
    first_.add(byte);
    second_.add(byte ^ 0x5aU);
  }
  base::Fnv1a first_;
  base::Fnv1a second_{0x84222325cbf29ce4};
  std::string text_;
};

std::string_view name_of(const Graph& graph, int id) {
  if (id < 0) return "";
  const Node& node = graph.nodes[static_cast<std::size_t>(id)];
  return node.kind == NodeKind::Machine ? std::string_view("machine") : std::string_view(node.name);
}

void add_node(const Graph& graph, const Node& node, Hash& hash) {
  hash.add("{} {} below {}", to_string(node.kind), name_of(graph, node.id), name_of(graph, node.parent));
  for (const std::string* text : {&node.device, &node.model, &node.cpus, &node.bus_id}) hash.add(*text);
  hash.add_known("os index", node.os_index);
  hash.add_known("cores", node.cores);
  if (node.memory_bytes) hash.add("memory {}", std::llround(std::ldexp(static_cast<double>(*node.memory_bytes), -30)));
  hash.add_known("lanes", node.pci.width);
  hash.add_known("most lanes", node.pci.max_width);
  if (!slows_link_when_idle(node.device)) hash.add_known("speed", node.pci.gts);
  hash.add_known("most speed", node.pci.max_gts);
  hash.add_known("network", node.network_gbs);
  hash.add_known("active", node.active);
}

void add_facts(const std::map<std::string, std::string>& facts, Hash& hash) {
  for (const auto& [key, value] : facts) {
    hash.add(key);
    hash.add(value);
  }
}

}  // namespace

Likeness likeness_of(const Survey& survey) {
  const Graph& graph = survey.graph;
  Hash hash;
  const StorageParts storage(graph);  // drives of many makers are no reason to call a node odd
  for (const Node& node : graph.nodes)
    if (node.kind != NodeKind::NetworkSwitch && !storage.contains(node.id)) add_node(graph, node, hash);
  for (const Link& link : graph.links)
    if (link.kind != LinkKind::Network && !storage.contains(link.a) && !storage.contains(link.b))
      hash.add("{} {} {} {} x {:.4g}", name_of(graph, link.a), name_of(graph, link.b), to_string(link.kind), link.count,
               link.lane_gbs());
  for (const StatedClass& stated : graph.stated)
    hash.add("{} {} {}", name_of(graph, stated.a), name_of(graph, stated.b), to_string(stated.path_class));
  const HostFacts& facts = survey.facts(0);
  add_facts(flat_facts(common_facts(facts)), hash);
  for (const DeviceFacts& device : facts.devices) {
    hash.add("device {}", device.node.empty() ? device.bus_id : device.node);
    add_facts(flat_facts(common_facts(device)), hash);
  }
  return hash.value();
}

}  // namespace weft::topology::cluster
