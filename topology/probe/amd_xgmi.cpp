// Phase amd_xgmi: XGMI between AMD GPUs from sysfs, where no vendor's library told it.
//
// GPUs of one hive list the numbers of hops and of links to each other, in the order in which the hive counts its nodes
// (xgmi_hive_info/node1, node2, ...: links to the devices). Only GPUs one hop apart have a link. What instructions a
// GPU has, and so how fast its links are, is known from the compute driver's own topology.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "topology/facts/tree.hpp"
#include "topology/probe/machine_probe.hpp"
#include "topology/rates.hpp"
#include "topology/sources.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxHive = 64;       // GPUs
constexpr unsigned kMaxLinks = 16;         // of two GPUs
constexpr std::size_t kMaxKfdNodes = 512;  // CPUs and GPUs
constexpr std::string_view kAmd = "1002:";

// "00 02 01 " -> 0, 2, 1: hexadecimal, one for each node of the hive.
std::vector<unsigned> numbers_of(const std::optional<std::string>& text) {
  std::vector<unsigned> numbers;
  for (const std::string_view word : words_of(text ? std::string_view(*text) : std::string_view())) {
    const std::optional<unsigned> number = parse_whole<unsigned>(word, 16);
    if (!number || numbers.size() == kMaxHive) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

// 90402 -> "gfx942", 90010 -> "gfx90a".
std::string instruction_set(unsigned long long version) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name = "gfx" + std::to_string(version / 10000);
  name += kDigits[version / 100 % 100 % 16];
  return name += kDigits[version % 100 % 16];
}

class Xgmi {
 public:
  explicit Xgmi(MachineProbe& probe) : probe_(probe), tree_(probe.root) {}

  void read() {
    for (const Node& node : probe_.graph.nodes)
      if (node.kind == NodeKind::Gpu && node.device.starts_with(kAmd) && !node.bus_id.empty())
        gpus_.emplace(node.bus_id, node.id);
    if (gpus_.size() < 2) return;
    std::map<std::pair<int, int>, unsigned> links;
    for (const auto& [bus_id, node] : gpus_) add_links_of(bus_id, node, links);
    if (links.empty()) return;
    const std::map<std::string, std::string> sets = instruction_sets();
    for (const auto& [pair, count] : links) {
      const auto set = sets.find(probe_.node(pair.first).bus_id);
      const std::optional<double> rate = set == sets.end() ? std::nullopt : rates::xgmi_gbs(set->second);
      const double gbs = std::max(count, 1U) * rate.value_or(rates::kXgmiUnknownGbs);
      probe_.graph.connect(pair.first, pair.second, LinkKind::Xgmi, gbs, 2 * rates::kXgmiLatencyUs,
                           rate && count > 0 ? probe_.source : kAssumed, static_cast<int>(count));
    }
  }

 private:
  // Both ends list a link; where they do not agree, the fewer count. 0: not told, as drivers write or leave out that do
  // not know it.
  void add_links_of(const std::string& bus_id, int from, std::map<std::pair<int, int>, unsigned>& links) const {
    const std::string folder = "sys/bus/pci/devices/" + bus_id + "/";
    const std::vector<unsigned> hops = numbers_of(tree_.attribute(folder + "xgmi_num_hops"));
    const std::vector<unsigned> counts = numbers_of(tree_.attribute(folder + "xgmi_num_links"));
    for (std::size_t i = 0; i < hops.size(); ++i) {
      if (hops[i] != 1) continue;
      const std::optional<std::string> other = tree_.link_name(folder + "xgmi_hive_info/node" + std::to_string(i + 1));
      const auto found = other ? gpus_.find(*other) : gpus_.end();
      if (found == gpus_.end() || found->second == from) continue;
      const unsigned count = i < counts.size() ? std::min(counts[i], kMaxLinks) : 0;
      unsigned& both = links.try_emplace(std::minmax(from, found->second), count).first->second;
      if (both == 0 || count == 0)
        both = std::max(both, count);
      else
        both = std::min(both, count);
    }
  }

  // By bus id.
  std::map<std::string, std::string> instruction_sets() const {
    const std::string folder = "sys/class/kfd/kfd/topology/nodes/";
    std::map<std::string, std::string> sets;
    const std::vector<std::string> nodes = tree_.list(folder).value_or(std::vector<std::string>());
    for (std::size_t i = 0; i < std::min(nodes.size(), kMaxKfdNodes); ++i) {
      const std::optional<std::string> text = tree_.attribute(folder + nodes[i] + "/properties");
      if (!text) continue;
      const unsigned long long version = property(*text, "gfx_target_version");
      const unsigned long long place = property(*text, "location_id");  // bus, device, function
      if (version == 0 || version > 999'999) continue;
      char bus_id[32];
      std::snprintf(bus_id, sizeof bus_id, "%04llx:%02llx:%02llx.%llx", property(*text, "domain") & 0xffffffff,
                    place >> 8 & 0xff, place >> 3 & 0x1f, place & 7);
      sets.emplace(bus_id, instruction_set(version));
    }
    return sets;
  }
  static unsigned long long property(std::string_view text, std::string_view name) {
    const std::optional<std::string_view> value = value_of(text, std::string(name) + " ");
    return value ? parse_whole<unsigned long long>(*value).value_or(0) : 0;
  }

  MachineProbe& probe_;
  const Tree tree_;
  std::map<std::string, int> gpus_;  // nodes by bus id
};

}  // namespace

void probe_amd_xgmi(MachineProbe& probe) {
  const std::vector<Link>& links = probe.graph.links;
  const bool known = std::any_of(links.begin(), links.end(), [](const Link& l) { return l.kind == LinkKind::Xgmi; });
  if (!probe.root.empty() && !known) Xgmi(probe).read();
}

}  // namespace weft::topology
