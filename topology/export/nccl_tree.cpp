// A machine's graph and facts as NCCL's elements.
#include "topology/export/nccl_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "topology/cpu_set.hpp"
#include "topology/export/nccl_link.hpp"
#include "topology/sources.hpp"

namespace weft::topology {
namespace {

constexpr std::string_view kSwitchClass = "0x060400";
constexpr std::string_view kNvSwitchClass = "0x068000";
constexpr std::string_view kCpuClass = "0x068001";
constexpr std::string_view kUnknownSwitch = "fffffff:ffff:ff.0";  // as NCCL writes a switch that a guest cannot see

bool is_device(NodeKind kind) { return kind == NodeKind::Gpu || kind == NodeKind::Nic; }
bool is_pci(NodeKind kind) { return is_device(kind) || kind == NodeKind::PciBridge || kind == NodeKind::PciSwitch; }

template <typename T>
void set_known(NcclElement& element, std::string_view name, const std::optional<T>& value) {
  if (value) element.set(name, fmt::format("{}", *value));
}

void set_flag(NcclElement& element, std::string_view name, const std::optional<bool>& value) {
  if (value) element.set(name, *value ? "1" : "0");
}

// "48-63" -> "ffff0000,00000000". Empty where there are more CPUs than fit into a value.
std::string mask_of_cpus(std::string_view cpus) {
  constexpr int kBitsInWord = 32;
  constexpr std::size_t kMaxWords = (kNcclMaxValueBytes + 1) / 9;
  std::vector<std::uint32_t> words;
  for (const CpuRange& range : parse_cpu_list(cpus)) {
    for (int cpu = range.first; cpu <= range.last; ++cpu) {
      const auto word = static_cast<std::size_t>(cpu / kBitsInWord);
      if (word >= kMaxWords) return {};
      if (word >= words.size()) words.resize(word + 1);
      words[word] |= std::uint32_t{1} << (cpu % kBitsInWord);
    }
  }
  std::string mask;
  for (auto word = words.rbegin(); word != words.rend(); ++word)
    mask += fmt::format("{}{:08x}", mask.empty() ? "" : ",", *word);
  return mask;
}

// What a CPU calls itself tells who made it.
std::optional<std::string> vendor_of(std::string_view cpu_model) {
  if (cpu_model.find("Intel") != std::string_view::npos) return "GenuineIntel";
  if (cpu_model.find("AMD") != std::string_view::npos) return "AuthenticAMD";
  return std::nullopt;
}

}  // namespace

NcclTree::NcclTree(const Survey& survey, bool fabric_only)
    : survey_(survey),
      graph_(survey.graph),
      locality_(graph_),
      storage_(graph_),
      fabric_only_(fabric_only),
      children_(graph_.nodes.size()),
      near_(graph_.nodes.size()) {
  for (const Node& node : graph_.nodes)
    if (node.parent >= 0 && !storage_.contains(node.id))
      children_[static_cast<std::size_t>(node.parent)].push_back(node.id);
  for (const Link& link : graph_.links) {
    if (link.kind != LinkKind::NvLink && link.kind != LinkKind::Xgmi && link.kind != LinkKind::C2c) continue;
    near_[static_cast<std::size_t>(link.a)].push_back(&link);
    near_[static_cast<std::size_t>(link.b)].push_back(&link);
  }
}

Result<NcclElement> NcclTree::system(int version) {
  WEFT_TRY(number_buses());
  find_homes();
  std::vector<std::pair<int, int>> order;  // the first node of a home, the home: the order in which they were found
  for (const auto& [home, tops] : homes_) {
    const bool numa = locality_.node(home).kind == NodeKind::Numa;
    if (numa || !tops.empty()) order.emplace_back(numa ? home : tops.front(), home);
  }
  std::sort(order.begin(), order.end());
  NcclElement system{"system", {{"version", fmt::format("{}", version)}}, {}};
  for (const auto& [first, home] : order)
    if (is_needed(home)) system.children.push_back(cpu(home));
  return system;
}

// NCCL knows devices by their bus ids. A model's are numbered, nobody else's are invented.
Status NcclTree::number_buses() {
  int next = 1;
  for (const Node& node : graph_.nodes) {
    std::string bus_id = node.bus_id;
    const bool wanted = is_device(node.kind) || (node.kind == NodeKind::PciSwitch && !storage_.contains(node.id));
    if (wanted && bus_id.empty() && survey_.source == kModelSource) {
      bus_id = fmt::format("{:04x}:{:02x}:00.0", next >> 8, next & 0xff);
      ++next;
    }
    // A NIC may stand without a place on PCIe.
    if (wanted && bus_id.empty() && node.kind != NodeKind::Nic)
      return Status(Code::InvalidArgument,
                    fmt::format("NCCL topology XML: {} has no bus id, by which NCCL tells devices apart; {} does not "
                                "state it: export from hwloc XML, a recorded tree or the machine itself",
                                node.name, survey_.source));
    bus_ids_.push_back(std::move(bus_id));
  }
  return {};
}

void NcclTree::find_homes() {
  for (int numa : graph_.ids(NodeKind::Numa)) homes_[numa];
  for (const Node& node : graph_.nodes)
    if (is_pci(node.kind) && !storage_.contains(node.id) && node.parent >= 0 &&
        !is_pci(locality_.node(node.parent).kind))
      homes_[home_of(node.id)].push_back(node.id);
}

// The NUMA node of what hangs there, or the machine. A device near several of them, but not all, is put on the first.
int NcclTree::home_of(int top) const {
  if (const int numa = ancestor_of(graph_, top, NodeKind::Numa); numa >= 0) return numa;
  int device = top;
  while (!is_device(locality_.node(device).kind) && !children_[static_cast<std::size_t>(device)].empty())
    device = children_[static_cast<std::size_t>(device)].front();
  std::vector<int> near = locality_.numa_nodes_of(device);
  const int package = ancestor_of(graph_, top, NodeKind::Package);
  if (near.empty() && package >= 0)
    for (int numa : locality_.numas(0))
      if (ancestor_of(graph_, numa, NodeKind::Package) == package) near.push_back(numa);
  const bool some = package >= 0 || near.size() == 1 || near.size() < locality_.numas(0).size();
  return !near.empty() && some ? near.front() : graph_.ids(NodeKind::Machine).front();
}

// NUMA nodes that are memory only mean nothing to NCCL; where a file of its own lists them, they stay.
bool NcclTree::is_needed(int home) const {
  if (!homes_.at(home).empty() || survey_.nccl_version || !locality_.node(home).cpus.empty()) return true;
  return std::all_of(homes_.begin(), homes_.end(),
                     [&](const auto& other) { return locality_.node(other.first).cpus.empty(); });
}

bool NcclTree::left_out(const Node& node) const { return fabric_only_ && node.kind == NodeKind::Nic && !node.fabric; }

NcclElement NcclTree::cpu(int home) const {
  const Node& node = locality_.node(home);
  const PlatformFacts& platform = survey_.facts(0).platform;
  const bool numa = node.kind == NodeKind::Numa;
  NcclElement cpu{"cpu", {}, {}};
  cpu.set("numaid", fmt::format("{}", numa ? node.os_index.value_or(-1) : -1));
  if (const std::string mask = numa ? mask_of_cpus(node.cpus) : ""; !mask.empty()) cpu.set("affinity", mask);
  set_known(cpu, "arch", platform.cpu_architecture);
  const std::vector<int> packages = graph_.ids(NodeKind::Package);
  set_known(cpu, "vendor",
            platform.cpu_vendor || packages.empty() ? platform.cpu_vendor
                                                    : vendor_of(locality_.node(packages.front()).model));
  set_known(cpu, "familyid", platform.cpu_family);
  set_known(cpu, "modelid", platform.cpu_model);
  for (int top : homes_.at(home)) add_device(locality_.node(top), cpu);
  return cpu;
}

// Bridges that are no switches are left out, as NCCL leaves them out.
void NcclTree::add_device(const Node& node, NcclElement& above) const {
  if (left_out(node)) return;
  if (node.kind == NodeKind::PciBridge) return add_children(node.id, above);
  if (node.kind == NodeKind::Nic && bus_ids_[static_cast<std::size_t>(node.id)].empty()) {
    above.children.push_back(nic(node));
    return;
  }
  NcclElement element = pci(node);
  if (node.kind == NodeKind::Gpu) element.children.push_back(gpu(node));
  if (node.kind == NodeKind::Nic) element.children.push_back(nic(node));
  add_children(node.id, element);
  // A switch with nothing below, because what was there is left out, says nothing.
  if (node.kind != NodeKind::PciSwitch || !element.children.empty()) above.children.push_back(std::move(element));
}

void NcclTree::add_children(int node, NcclElement& above) const {
  for (int child : children_[static_cast<std::size_t>(node)])
    if (is_pci(locality_.node(child).kind)) add_device(locality_.node(child), above);
}

NcclElement NcclTree::pci(const Node& node) const {
  NcclElement pci{"pci", {{"busid", bus_ids_[static_cast<std::size_t>(node.id)]}, {"class", pci_class(node)}}, {}};
  if (const std::size_t colon = node.device.find(':'); colon != std::string::npos) {
    pci.set("vendor", "0x" + node.device.substr(0, colon));
    pci.set("device", "0x" + node.device.substr(colon + 1));
  }
  const NcclLink link = nccl_link(locality_, node.id);
  if (link.gts) pci.set("link_speed", nccl_speed(*link.gts));
  set_known(pci, "link_width", link.width);
  // As NCCL writes a link that the machine hides; what is left out it would look for.
  const DeviceFacts* facts = facts_of(node);
  if (facts != nullptr && facts->link_hidden == true && !link.gts && !link.width)
    for (const char* name : {"link_speed", "link_width"}) pci.set(name, "");
  return pci;
}

NcclElement NcclTree::gpu(const Node& node) const {
  NcclElement gpu{"gpu", {}, {}};
  if (const DeviceFacts* facts = facts_of(node)) {
    set_known(gpu, "dev", facts->index);
    set_known(gpu, "sm", facts->sm);
    set_known(gpu, "gcn", facts->instruction_set);
    set_flag(gpu, "gdr", facts->gpu_direct);
  }
  add_links(node, gpu);
  return gpu;
}

void NcclTree::add_links(const Node& node, NcclElement& gpu) const {
  for (const Link* link : near_[static_cast<std::size_t>(node.id)]) {
    const Node& other = locality_.node(link->a == node.id ? link->b : link->a);
    const std::string& bus_id = bus_ids_[static_cast<std::size_t>(other.id)];
    const std::string count = fmt::format("{}", std::max(link->count, 1));  // the loader needs one
    if (link->kind == LinkKind::C2c) {
      constexpr double kMbsInGbs = 1000;
      const long long mbs = std::llround(link->lane_gbs() * kMbsInGbs);
      if (other.kind != NodeKind::Gpu)
        gpu.children.push_back({"c2c", {{"bw", fmt::format("{}", mbs)}, {"count", count}}, {}});
    } else if (other.kind == NodeKind::Gpu) {
      gpu.children.push_back({link->kind == LinkKind::Xgmi ? "xgmi" : "nvlink",
                              {{"target", bus_id}, {"count", count}, {"tclass", pci_class(other)}},
                              {}});
    } else if (link->kind == LinkKind::NvLink && other.kind == NodeKind::NvSwitch) {
      gpu.children.push_back({"nvlink",
                              {{"target", bus_id.empty() ? std::string(kUnknownSwitch) : bus_id},
                               {"count", count},
                               {"tclass", std::string(kNvSwitchClass)}},
                              {}});
    } else if (link->kind == LinkKind::NvLink) {
      gpu.children.push_back({"nvlink", {{"count", count}, {"tclass", std::string(kCpuClass)}}, {}});
    }
  }
}

// One <net> for each port that can be used.
NcclElement NcclTree::nic(const Node& node) const {
  NcclElement nic{"nic", {}, {}};
  const DeviceFacts* facts = facts_of(node);
  for (const NcclNet& net : nccl_nets(node, facts, survey_.nccl_version.has_value())) {
    NcclElement element{"net", {}, {}};
    if (!net.name.empty()) element.set("name", net.name);
    set_known(element, "dev", net.index);
    if (net.mbits) element.set("speed", fmt::format("{}", *net.mbits));
    set_known(element, "port", net.port);
    set_known(element, "guid", net.guid);
    if (facts != nullptr) set_flag(element, "gdr", facts->gpu_direct);
    nic.children.push_back(std::move(element));
  }
  return nic;
}

// As the source states it, else the usual one of its kind, of which NCCL only looks at the first digits.
std::string NcclTree::pci_class(const Node& node) const {
  if (node.kind == NodeKind::PciSwitch) return std::string(kSwitchClass);
  const DeviceFacts* facts = facts_of(node);
  if (facts != nullptr && facts->pci_class) return *facts->pci_class;
  if (node.kind == NodeKind::Gpu) return node.device.starts_with("1002:") ? "0x120000" : "0x030200";
  const bool ethernet = facts != nullptr && std::any_of(facts->ports.begin(), facts->ports.end(),
                                                        [](const auto& port) { return port.ethernet(); });
  return node.fabric && !ethernet ? "0x020700" : "0x020000";
}

const DeviceFacts* NcclTree::facts_of(const Node& node) const { return survey_.facts(0).device(node.name); }

}  // namespace weft::topology
