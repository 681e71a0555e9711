// fingerprint(): a short text by which measured tables are found again on like machines. Names, bus ids and addresses
// are left out, and so is storage, which no collective passes; kinds, containment, sizes, links and rates are in.
#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/fnv1a.hpp"
#include "topology/path_finder.hpp"
#include "topology/storage.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

class Hash {
 public:
  void add(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) bytes_.add(static_cast<unsigned char>(value >> shift));
  }
  void add(std::string_view text) {
    add(text.size());
    for (char c : text) bytes_.add(static_cast<unsigned char>(c));
  }
  std::uint64_t value() const { return bytes_.value(); }

 private:
  base::Fnv1a bytes_;
};

std::uint64_t number(int value) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)); }

}  // namespace

std::string fingerprint(const Graph& graph) {
  Hash hash;
  const StorageParts storage(graph);
  std::vector<int> place(graph.nodes.size() + 1, -1);  // by node, behind the one that -1 stands for; without storage
  int count = 0;
  for (const Node& node : graph.nodes)
    if (!storage.contains(node.id)) place[static_cast<std::size_t>(node.id) + 1] = count++;
  const auto place_of = [&](int node) { return place[static_cast<std::size_t>(node + 1)]; };
  for (const Node& node : graph.nodes) {
    if (storage.contains(node.id)) continue;
    hash.add(static_cast<std::uint64_t>(node.kind));
    hash.add(number(place_of(node.parent)));
    hash.add(number(node.host));
    hash.add(node.device);
    hash.add(number(node.cores.value_or(0)));
  }
  for (const Link& link : graph.links) {
    if (storage.contains(link.a) || storage.contains(link.b)) continue;
    hash.add(number(place_of(link.a)));
    hash.add(number(place_of(link.b)));
    hash.add(static_cast<std::uint64_t>(link.kind));
    hash.add(static_cast<std::uint64_t>(width_kbs(link.bandwidth_gbs)));
    hash.add(static_cast<std::uint64_t>(latency_ps(link.latency_us)));
  }
  for (const StatedClass& stated : graph.stated) {
    hash.add(number(place_of(stated.a)));
    hash.add(number(place_of(stated.b)));
    hash.add(static_cast<std::uint64_t>(stated.path_class));
  }
  const std::size_t gpus = graph.ids(NodeKind::Gpu).size();
  return fmt::format("{}host-{}gpu-{:016x}", graph.hosts(), gpus, hash.value());
}

}  // namespace weft::topology
