// fingerprint(): a short text by which measured tables are found again on like machines. Names, bus ids and addresses
// are left out; kinds, containment, sizes, links and rates are in.
#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "topology/path_finder.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

// FNV-1a, 64 bits.
class Hash {
 public:
  void add(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) add_byte(static_cast<unsigned char>(value >> shift));
  }
  void add(std::string_view text) {
    add(text.size());
    for (char c : text) add_byte(static_cast<unsigned char>(c));
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
  std::uint64_t value_ = 0xcbf29ce484222325;
};

std::uint64_t number(int value) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)); }

}  // namespace

std::string fingerprint(const Graph& graph) {
  Hash hash;
  for (const Node& node : graph.nodes) {
    hash.add(static_cast<std::uint64_t>(node.kind));
    hash.add(number(node.parent));
    hash.add(number(node.host));
    hash.add(node.device);
    hash.add(number(node.cores.value_or(0)));
  }
  for (const Link& link : graph.links) {
    hash.add(number(link.a));
    hash.add(number(link.b));
    hash.add(static_cast<std::uint64_t>(link.kind));
    hash.add(static_cast<std::uint64_t>(width_kbs(link.bandwidth_gbs)));
    hash.add(static_cast<std::uint64_t>(latency_ps(link.latency_us)));
  }
  for (const StatedClass& stated : graph.stated) {
    hash.add(number(stated.a));
    hash.add(number(stated.b));
    hash.add(static_cast<std::uint64_t>(stated.path_class));
  }
  const std::size_t gpus = graph.ids(NodeKind::Gpu).size();
  return fmt::format("{}host-{}gpu-{:016x}", graph.hosts(), gpus, hash.value());
}

}  // namespace weft::topology
