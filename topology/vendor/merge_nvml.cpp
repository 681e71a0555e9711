// NVML's answer: facts of GPUs, and the links between them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "topology/rates.hpp"
#include "topology/vendor/merge.hpp"

namespace weft::topology {
namespace {

constexpr std::string_view kSource = "NVML";

// NVML numbers versions with their revisions; boards of one generation report different ones.
std::optional<int> nvlink_generation(const NvmlGpu& gpu, const NvmlLink& link) {
  if (gpu.sm) {
    const int major = *gpu.sm / 10;
    if (major >= 6 && major <= 9) return major - 5;
    if (major == 10) return 5;
  }
  constexpr std::array kGenerations = {0, 1, 2, 2, 3, 3, 4, 5, 6};
  if (!link.version || *link.version <= 0 || static_cast<std::size_t>(*link.version) >= kGenerations.size())
    return std::nullopt;
  return kGenerations[static_cast<std::size_t>(*link.version)];
}

std::optional<std::string> fabric_state(const std::optional<int>& state) {
  constexpr std::array kWords = {"not supported", "not started", "in progress", "completed"};
  if (!state || static_cast<std::size_t>(*state) >= kWords.size()) return std::nullopt;
  return kWords[static_cast<std::size_t>(*state)];
}

NvLinkFacts link_facts(const NvmlGpu& gpu, const NvmlLink& link) {
  NvLinkFacts facts;
  facts.index = link.index;
  facts.active = link.active;
  facts.version = nvlink_generation(gpu, link);
  facts.remote_bus_id = link.remote_bus_id;
  facts.remote_kind = link.remote_kind;
  if (link.mbs && *link.mbs > 0) facts.gbs = static_cast<double>(*link.mbs) / 1000;
  return facts;
}

template <typename T>
void keep(std::optional<T>& known, const std::optional<T>& told) {
  if (!known) known = told;
}

// A link without lanes or generation is none that anybody measured.
std::optional<int> positive(const std::optional<int>& number) { return number && *number > 0 ? number : std::nullopt; }

std::optional<double> gts(const std::optional<int>& generation) {
  if (!generation || *generation < 1 || *generation > rates::kPciGenerations) return std::nullopt;
  return rates::kPciGts[*generation - 1];
}

class Merge {
 public:
  Merge(const NvmlAnswer& answer, Survey& survey) : answer_(answer), graph_(survey.graph), survey_(survey) {
    for (const Node& node : graph_.nodes)
      if (node.kind == NodeKind::Gpu && !node.bus_id.empty()) by_bus_id_.emplace(node.bus_id, node.id);
  }

  void run() {
    for (const NvmlGpu& gpu : answer_.gpus) {
      if (gpu.error)
        survey_.remarks.push_back({RemarkKind::Unreadable, fmt::format("NVML GPU {}", gpu.index), *gpu.error});
      const auto found = gpu.bus_id ? by_bus_id_.find(*gpu.bus_id) : by_bus_id_.end();
      if (found == by_bus_id_.end()) continue;
      add_to_node(gpu, graph_.nodes[static_cast<std::size_t>(found->second)]);
      add_to_facts(gpu, facts_of(*gpu.bus_id, found->second));
    }
    if (!has_links(LinkKind::NvLink)) add_nvlinks();
    if (!has_links(LinkKind::C2c)) add_c2c();
  }

 private:
  static void add_to_node(const NvmlGpu& gpu, Node& node) {
    // NVML knows the product, sysfs and hwloc at best the chip.
    if (gpu.name && !gpu.name->empty()) node.model = *gpu.name;
    const std::string name = fmt::format("nvml{}", gpu.index);  // as hwloc calls it
    if (std::find(node.names.begin(), node.names.end(), name) == node.names.end()) node.names.push_back(name);
    keep(node.pci.gts, gts(gpu.pcie_generation));
    keep(node.pci.width, positive(gpu.pcie_width));
    keep(node.pci.max_gts, gts(gpu.max_pcie_generation));
    keep(node.pci.max_width, positive(gpu.max_pcie_width));
  }

  static void add_to_facts(const NvmlGpu& gpu, DeviceFacts& facts) {
    facts.index = gpu.index;
    keep(facts.uuid, gpu.uuid);
    keep(facts.serial, gpu.serial);
    keep(facts.sm, gpu.sm);
    if (gpu.power_state && *gpu.power_state <= 15) facts.power_state = fmt::format("P{}", *gpu.power_state);
    if (gpu.clock_mhz) facts.clock_mhz = *gpu.clock_mhz;
    if (gpu.max_clock_mhz) facts.max_clock_mhz = *gpu.max_clock_mhz;
    keep(facts.fabric_state, fabric_state(gpu.fabric_state));
    if (!facts.nvlinks.empty()) return;
    for (const NvmlLink& link : gpu.nvlinks) facts.nvlinks.push_back(link_facts(gpu, link));
  }

  DeviceFacts& facts_of(const std::string& bus_id, int node) {
    std::vector<DeviceFacts>& devices = survey_.hosts.at(0).devices;
    const auto found =
        std::find_if(devices.begin(), devices.end(), [&](const DeviceFacts& one) { return one.bus_id == bus_id; });
    if (found != devices.end()) return *found;
    DeviceFacts facts;
    facts.bus_id = bus_id;
    facts.node = graph_.nodes[static_cast<std::size_t>(node)].name;
    facts.kind = "gpu";
    devices.push_back(std::move(facts));
    return devices.back();
  }

  bool has_links(LinkKind kind) const {
    return std::any_of(graph_.links.begin(), graph_.links.end(), [&](const Link& link) { return link.kind == kind; });
  }

  // Active links by pair of nodes. Where both GPUs of a pair report some and do not agree, the fewer count; what one
  // alone reports stands.
  void add_nvlinks() {
    std::map<std::pair<int, int>, int> between;
    std::map<int, double> rate;
    for (const NvmlGpu& gpu : answer_.gpus) {
      const auto from = gpu.bus_id ? by_bus_id_.find(*gpu.bus_id) : by_bus_id_.end();
      if (from == by_bus_id_.end()) continue;
      rate[from->second] = rates::nvlink_gbs(gpu.sm);
      for (const NvmlLink& link : gpu.nvlinks)
        if (const int to = link.active ? remote_of(link, from->second) : -1; to >= 0) ++between[{from->second, to}];
    }
    for (const auto& [pair, count] : between) {
      const auto [from, to] = pair;
      int links = count;
      if (const auto back = between.find({to, from}); back != between.end()) {
        if (to < from) continue;
        links = std::min(links, back->second);
      }
      const bool device = graph_.nodes[static_cast<std::size_t>(to)].kind == NodeKind::Gpu;
      graph_.connect(from, to, LinkKind::NvLink, links * rate.at(from), (device ? 2 : 1) * rates::kNvLinkLatencyUs,
                     std::string(kSource), links);
    }
  }

  // The node at the other end; -1 if it is not known, or another machine's.
  int remote_of(const NvmlLink& link, int from) {
    if (link.remote_kind == "switch") return nvswitch();
    if (link.remote_kind == "cpu") return package_of(from);
    const auto found = link.remote_bus_id ? by_bus_id_.find(*link.remote_bus_id) : by_bus_id_.end();
    return found == by_bus_id_.end() || found->second == from ? -1 : found->second;
  }

  int nvswitch() {
    if (nvswitch_ >= 0) return nvswitch_;
    const std::vector<int> known = graph_.ids(NodeKind::NvSwitch);
    if (!known.empty()) return nvswitch_ = known.front();
    Node node;
    node.kind = NodeKind::NvSwitch;
    node.parent = graph_.ids(NodeKind::Machine).at(0);
    node.name = "nvswitch0";
    for (int i = 1; graph_.find(node.name); ++i) node.name = fmt::format("nvswitch{}", i);
    return nvswitch_ = graph_.add(std::move(node));
  }

  // The package or NUMA node above; the machine itself counts as none.
  int package_of(int node) const {
    for (int at = node; at >= 0; at = graph_.nodes[static_cast<std::size_t>(at)].parent) {
      const NodeKind kind = graph_.nodes[static_cast<std::size_t>(at)].kind;
      if (kind == NodeKind::Numa || kind == NodeKind::Package) return at;
    }
    return -1;
  }

  void add_c2c() {
    for (const NvmlGpu& gpu : answer_.gpus) {
      if (!gpu.bus_id || !gpu.c2c || gpu.c2c->count == 0 || !positive(gpu.c2c->mbs)) continue;
      const auto found = by_bus_id_.find(*gpu.bus_id);
      const int cpu = found == by_bus_id_.end() ? -1 : package_of(found->second);
      if (cpu < 0) continue;
      const double gbs = static_cast<double>(gpu.c2c->count) * *gpu.c2c->mbs / 1000;
      graph_.connect(found->second, cpu, LinkKind::C2c, gbs, rates::kNvLinkLatencyUs, std::string(kSource),
                     gpu.c2c->count);
    }
  }

  const NvmlAnswer& answer_;
  Graph& graph_;
  Survey& survey_;
  std::map<std::string, int, std::less<>> by_bus_id_;
  int nvswitch_ = -1;
};

}  // namespace

void merge_nvml(const NvmlAnswer& answer, Survey& survey) {
  if (answer.driver && !survey.hosts.at(0).kernel.nvidia_driver) survey.hosts[0].kernel.nvidia_driver = answer.driver;
  Merge(answer, survey).run();
}

}  // namespace weft::topology
