// The graph of a NCCL or RCCL topology document.
#include "topology/import/nccl_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/plural.hpp"
#include "topology/device_kinds.hpp"
#include "topology/import/import.hpp"
#include "topology/import/nccl_facts.hpp"
#include "topology/import/nccl_values.hpp"
#include "topology/import/source_text.hpp"
#include "topology/import/xml_document.hpp"
#include "topology/rates.hpp"
#include "topology/sources.hpp"

namespace weft::topology {
namespace {

constexpr std::string_view kSource = "nccl";
constexpr int kInfiniBand = 0x0207;
constexpr int kMaxLinksOfGpu = 1024;
constexpr long long kMaxPortMbits = 3'200'000;  // twice 1.6 Tbit/s, the fastest there is
constexpr std::size_t kMaxNets = 256;           // of one NIC; as many names as JSON reads back
constexpr int kMaxNumaId = 1 << 16;

enum class Role { Gpu, Nic, Switch, Unknown };

Role role_of(const pugi::xml_node& pci) {
  if (!pci.child("gpu").empty()) return Role::Gpu;
  if (!pci.child("nic").empty()) return Role::Nic;
  switch (pci_role(nccl::pci_class(pci), nccl::device(pci))) {
    case PciRole::Gpu:
      return Role::Gpu;
    case PciRole::Nic:
      return Role::Nic;
    default:
      return pci.child("pci").empty() ? Role::Unknown : Role::Switch;
  }
}

// Bridges with neither GPU nor NIC below are left out, as everywhere. Depth is bounded by the document's check.
bool holds_device(const pugi::xml_node& pci) {
  const Role role = role_of(pci);
  if (role == Role::Gpu || role == Role::Nic) return true;
  for (const pugi::xml_node& child : pci.children("pci"))
    if (holds_device(child)) return true;
  return false;
}

// A fabric's plug-in gives a guid; NCCL's own sockets have their number there.
bool has_guid(const pugi::xml_node& net) {
  constexpr std::size_t kNumberDigits = 4;
  std::string_view guid = net.attribute("guid").value();
  guid.remove_prefix(std::min(guid.find_first_not_of("0x"), guid.size()));
  return guid.size() > kNumberDigits;
}

Node device_node(const pugi::xml_node& pci, int parent) {
  Node node;
  node.parent = parent;
  node.bus_id = nccl::bus_id(pci.attribute("busid").value());
  node.device = nccl::device(pci);
  node.pci = nccl::link(pci);
  return node;
}

}  // namespace

Result<Survey> NcclMachine::read(const pugi::xml_node& system) {
  graph_.name = "machine";
  builder_.machine(names_.take(graph_.name));
  for (const pugi::xml_node& cpu : system.children("cpu")) WEFT_TRY(read_cpu(cpu));
  for (const GpuElement& gpu : gpus_) WEFT_TRY(read_links(gpu));
  connect_pairs();
  connect_switch();
  if (const Status status = graph_.check(); !status.ok()) return import_error(path_, 0, status.message());
  compare_affinities();
  for (const pugi::xml_node& cpu : system.children("cpu")) tell_of_unknown(cpu);
  survey_.remarks = remarks_.take();
  survey_.hosts.push_back(std::move(facts_));
  return std::move(survey_);
}

Status NcclMachine::wrong(const pugi::xml_node& at, std::string_view reason) const {
  return import_error(path_, line(at), reason);
}

std::size_t NcclMachine::line(const pugi::xml_node& at) const { return line_of(text_, at); }

// Vendors write one mask for all NUMA nodes where they mean none.
void NcclMachine::compare_affinities() {
  std::map<std::string, std::vector<int>> nodes;  // by CPU list
  for (const auto& [index, node] : numa_)
    if (const std::string& cpus = graph_.nodes[static_cast<std::size_t>(node)].cpus; !cpus.empty())
      nodes[cpus].push_back(index);
  for (const auto& [cpus, indices] : nodes)
    if (indices.size() > 1)
      remarks_.contradiction(0, fmt::format("the NUMA nodes {} all have the CPUs {}", fmt::join(indices, ", "), cpus));
}

// Devices of which nothing but the bus id is told: NCCL reads the rest from sysfs, which is not here.
void NcclMachine::tell_of_unknown(const pugi::xml_node& cpu) {
  if (remarks_.full()) return;  // to find a line takes as long as to read the text up to it
  std::size_t unknown = 0;
  for (const pugi::xml_node& pci : cpu.children("pci"))
    if (role_of(pci) == Role::Unknown && pci.attribute("class").empty()) ++unknown;
  if (unknown > 0)
    remarks_.incomplete(
        line(cpu), fmt::format("<pci>: {} below this <cpu> {}", base::plural(unknown, "element"), kDevicesUnknown));
}

void NcclMachine::tell_of_senseless(const pugi::xml_node& element) {
  if (remarks_.full()) return;
  if (const std::vector<std::string> values = nccl::senseless_speeds(element); !values.empty())
    remarks_.incomplete(line(element),
                        fmt::format("<{}>: {} cannot be: unknown", element.name(), fmt::join(values, " and ")));
}

Result<int> NcclMachine::home_of(const pugi::xml_node& cpu) {
  const std::optional<long long> numaid = nccl::integer(cpu, "numaid");
  if (!cpu.attribute("numaid").empty() && (!numaid || *numaid < -1 || *numaid > kMaxNumaId))
    return wrong(cpu, fmt::format("numaid \"{}\" is no NUMA node", as_node_name(cpu.attribute("numaid").value())));
  if (!numaid || *numaid < 0) return builder_.machine_id();
  const auto [found, fresh] = numa_.try_emplace(static_cast<int>(*numaid), -1);
  if (!fresh) return found->second;
  const std::optional<long long> model = nccl::integer(cpu, "modelid");
  const int model_number = static_cast<int>(std::clamp(model.value_or(0), 0LL, 0xffffLL));
  const std::string_view vendor = cpu.attribute("vendor").value();
  std::optional<double> socket_gbs;
  if (!vendor.empty()) socket_gbs = rates::socket_gbs(vendor, model_number);
  found->second = builder_.numa_without_package(found->first, socket_gbs);
  const std::string_view affinity = cpu.attribute("affinity").value();
  if (affinity.empty()) return found->second;
  const std::optional<std::string> cpus = nccl::cpus_of_mask(affinity);
  if (!cpus) return wrong(cpu, fmt::format("affinity \"{}\" is no CPU mask", as_node_name(affinity)));
  graph_.nodes[static_cast<std::size_t>(found->second)].cpus = *cpus;
  return found->second;
}

Status NcclMachine::read_cpu(const pugi::xml_node& cpu) {
  const std::string_view hash = cpu.attribute("host_hash").value();
  if (!hash.empty() && !host_hash_.empty() && hash != host_hash_)
    return wrong(cpu, "describes several hosts (host_hash differs); give the file of one host");
  if (!hash.empty()) host_hash_ = hash;
  nccl::read_cpu_facts(cpu, facts_.platform);
  WEFT_TRY_ASSIGN(const int home, home_of(cpu));
  const bool holds =
      !cpu.child("nic").empty() || std::any_of(cpu.children("pci").begin(), cpu.children("pci").end(), holds_device);
  if (!holds) return {};
  const std::string numa = graph_.nodes[static_cast<std::size_t>(home)].name;
  const int bridge = builder_.host_bridge(home, names_.take("bridge-" + numa));
  return read_children(cpu, bridge, home);
}

Status NcclMachine::read_children(const pugi::xml_node& element, int parent, int home) {
  for (const pugi::xml_node& child : element.children()) {
    const std::string_view name = child.name();
    if (name == "pci" && holds_device(child)) WEFT_TRY(read_pci(child, parent, home));
    // A <nic> below a <cpu> is a network device without a place on PCIe.
    if (name == "nic" && std::string_view(element.name()) == "cpu") {
      Node node;
      node.parent = parent;
      WEFT_TRY(add_nic({}, child, std::move(node)));
    }
  }
  return {};
}

Status NcclMachine::read_pci(const pugi::xml_node& pci, int parent, int home) {
  if (++devices_ > kMaxImportDevices) return wrong(pci, fmt::format("has more than {} PCI devices", kMaxImportDevices));
  Node node = device_node(pci, parent);
  tell_of_senseless(pci);
  if (!node.bus_id.empty())
    if (const auto [first, fresh] = first_.try_emplace(node.bus_id, pci); !fresh && !remarks_.full())
      remarks_.contradiction(line(pci),
                             fmt::format("{} is there twice, first on line {}", node.bus_id, line(first->second)));
  switch (role_of(pci)) {
    case Role::Gpu:
      WEFT_TRY(add_gpu(pci, std::move(node), home));
      break;
    case Role::Nic: {
      node.fabric = nccl::pci_class(pci) == kInfiniBand || is_fabric_device(node.device);
      WEFT_TRY(add_nic(pci, pci.child("nic"), std::move(node)));
      break;
    }
    default:
      node.kind = NodeKind::PciSwitch;
      node.name = names_.take("switch-" + node.bus_id);
      parent = add(std::move(node));
  }
  return read_children(pci, parent, home);
}

int NcclMachine::add(Node node) { return builder_.pci_device(std::move(node), std::string(kSource)); }

Status NcclMachine::add_gpu(const pugi::xml_node& pci, Node node, int home) {
  if (gpus_.size() == kMaxImportGpus) return wrong(pci, fmt::format("has more than {} GPUs", kMaxImportGpus));
  node.kind = NodeKind::Gpu;
  node.name = names_.take(fmt::format("gpu{}", gpus_.size()));
  const std::string bus = node.bus_id;
  facts_.devices.push_back(nccl::device_facts(pci, pci.child("gpu"), node));
  const int id = add(std::move(node));
  if (!bus.empty()) device_.try_emplace(bus, id);
  gpus_.push_back({id, home, pci.child("gpu")});
  return {};
}

Status NcclMachine::add_nic(const pugi::xml_node& pci, const pugi::xml_node& nic, Node node) {
  node.kind = NodeKind::Nic;
  double mbits = 0;
  for (const pugi::xml_node& net : nic.children("net")) {
    if (node.names.size() == kMaxNets) return wrong(net, fmt::format("a <nic> with more than {} <net>", kMaxNets));
    if (const std::string_view name = net.attribute("name").value(); !name.empty())
      node.names.push_back(as_node_name(name));
    node.fabric = node.fabric || has_guid(net);
    tell_of_senseless(net);
    const long long speed = nccl::integer(net, "speed").value_or(0);
    if (speed > kMaxPortMbits) {
      if (!remarks_.full())
        remarks_.contradiction(line(net), fmt::format("no port does {} Mbit/s, which is said of {}; taken as not told",
                                                      speed, as_node_name(net.attribute("name").value())));
    } else if (speed > 0) {
      mbits += static_cast<double>(speed);
    }
  }
  constexpr double kMbitsInGbyte = 8000;
  if (mbits > 0)
    node.network_gbs = mbits / kMbitsInGbyte;
  else
    node.network_gbs = nominal_network_gbs(node.device);
  node.name = names_.take(node.names.empty() ? fmt::format("nic{}", unnamed_nics_++) : node.names.front());
  facts_.devices.push_back(nccl::device_facts(pci, nic, node));
  add(std::move(node));
  return {};
}

Status NcclMachine::read_links(const GpuElement& gpu) {
  for (const pugi::xml_node& link : gpu.element.children()) {
    const std::string_view name = link.name();
    if (name != "nvlink" && name != "xgmi" && name != "c2c") continue;
    const long long count = nccl::integer(link, "count").value_or(1);
    if (count < 0 || count > kMaxLinksOfGpu) return wrong(link, fmt::format("count {} is no number of links", count));
    if (count == 0) continue;
    const int links = static_cast<int>(count);
    const auto target = device_.find(nccl::bus_id(link.attribute("target").value()));
    if (name == "nvlink") {
      read_nvlink(gpu, link, links);
    } else if (name == "xgmi") {
      if (target != device_.end() && target->second != gpu.node) xgmi_[{gpu.node, target->second}] += links;
    } else {
      const double mbs = static_cast<double>(nccl::integer(link, "bw").value_or(0));
      constexpr double kMaxMbs = 1e9;
      if (mbs > 0 && mbs < kMaxMbs)
        graph_.connect(gpu.node, gpu.home, LinkKind::C2c, mbs * links / 1000, rates::kNvLinkLatencyUs,
                       std::string(kSource), links);
    }
  }
  return {};
}

// To a GPU of the file, to a switch (0x0680, also where a virtual machine hides which), or to the CPU of a Power9. A
// GPU that is not in the file is not in the graph either.
void NcclMachine::read_nvlink(const GpuElement& gpu, const pugi::xml_node& link, int count) {
  constexpr long long kSwitchClass = 0x068000;
  constexpr long long kCpuClass = 0x068001;
  const std::string_view target_text = link.attribute("target").value();
  const auto target = device_.find(nccl::bus_id(target_text));
  const std::optional<long long> target_class = nccl::integer(link, "tclass");
  if (target != device_.end()) {
    if (target->second != gpu.node) nvlinks_[{gpu.node, target->second}] += count;
  } else if (target_class == kSwitchClass || target_text.starts_with("fffffff:")) {
    to_switch_[gpu.node] += count;
  } else if (target_class == kCpuClass) {
    const double one = rates::nvlink_gbs(nccl::integer(gpu.element, "sm"));
    graph_.connect(gpu.node, gpu.home, LinkKind::NvLink, one * count, rates::kNvLinkLatencyUs, kSpec, count);
  }
}

const pugi::xml_node& NcclMachine::element_of(int gpu) const {
  return std::lower_bound(gpus_.begin(), gpus_.end(), gpu, [](const GpuElement& g, int node) { return g.node < node; })
      ->element;
}

// Each end lists the links between two GPUs; partial files may list them at one end only.
void NcclMachine::connect_pairs() {
  const auto count_of = [](const Counts& counts, int a, int b) {
    const auto there = counts.find({a, b});
    const auto back = counts.find({b, a});
    return std::max(there == counts.end() ? 0 : there->second, back == counts.end() ? 0 : back->second);
  };
  const auto each_pair = [&](const Counts& counts, auto connect) {
    for (const auto& [pair, unused] : counts) {
      const auto [a, b] = pair;
      if (a < b || !counts.contains({b, a})) connect(std::min(a, b), std::max(a, b), count_of(counts, a, b));
    }
  };
  for (const Counts* counts : {&nvlinks_, &xgmi_})
    for (const auto& [pair, count] : *counts) {
      const auto back = counts->find({pair.second, pair.first});
      if (pair.first >= pair.second || back == counts->end() || back->second == count || remarks_.full()) continue;
      const auto name = [&](int id) { return graph_.nodes[static_cast<std::size_t>(id)].name; };
      remarks_.contradiction(line(element_of(pair.first)),
                             fmt::format("{} has {} {} to {}, which has {} back", name(pair.first), count,
                                         counts == &xgmi_ ? "XGMI" : "NVLink", name(pair.second), back->second));
    }
  each_pair(nvlinks_, [&](int a, int b, int count) {
    const std::optional<long long> sm = nccl::integer(element_of(a), "sm");
    graph_.connect(a, b, LinkKind::NvLink, rates::nvlink_gbs(sm) * count, 2 * rates::kNvLinkLatencyUs,
                   sm ? kSpec : kAssumed, count);
  });
  each_pair(xgmi_, [&](int a, int b, int count) {
    const std::optional<double> one = rates::xgmi_gbs(element_of(a).attribute("gcn").value());
    graph_.connect(a, b, LinkKind::Xgmi, one.value_or(rates::kXgmiUnknownGbs) * count, 2 * rates::kXgmiLatencyUs,
                   one ? kSpec : kAssumed, count);
  });
}

void NcclMachine::connect_switch() {
  if (to_switch_.empty()) return;
  Node node;
  node.kind = NodeKind::NvSwitch;
  node.name = names_.take("nvswitch0");
  node.parent = builder_.machine_id();
  const int fabric = graph_.add(std::move(node));
  for (const auto& [gpu, count] : to_switch_) {
    const std::optional<long long> sm = nccl::integer(element_of(gpu), "sm");
    graph_.connect(gpu, fabric, LinkKind::NvLink, rates::nvlink_gbs(sm) * count, rates::kNvLinkLatencyUs,
                   sm ? kSpec : kAssumed, count);
  }
}

}  // namespace weft::topology
