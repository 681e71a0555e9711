// PCI devices: of GPUs, NICs, NVSwitches and all bridges above them what sysfs tells beyond their links.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/parse.hpp"
#include "topology/device_kinds.hpp"
#include "topology/facts/acs.hpp"
#include "topology/facts/readers.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxDevices = 4096;
constexpr std::string_view kPci = "sys/bus/pci/devices/";

std::string folder_of(const std::string& bus_id) { return std::string(kPci) + bus_id + "/"; }

// "0x030200" -> 0x0302.
int class_of(const Tree& tree, const std::string& folder) {
  const std::optional<std::string> text = tree.attribute(folder + "class");
  const std::optional<unsigned long long> number = text ? parse_hex(*text) : std::nullopt;
  return number ? static_cast<int>(*number >> 8 & 0xffff) : 0;
}

// "10de:2330".
std::optional<std::string> id_of(const Tree& tree, const std::string& folder) {
  const std::optional<std::string> vendor = tree.attribute(folder + "vendor");
  const std::optional<std::string> device = tree.attribute(folder + "device");
  const std::optional<unsigned long long> first = vendor ? parse_hex(*vendor) : std::nullopt;
  const std::optional<unsigned long long> second = device ? parse_hex(*device) : std::nullopt;
  if (!first || !second || *first > 0xffff || *second > 0xffff) return std::nullopt;
  return fmt::format("{:04x}:{:04x}", *first, *second);
}

// The last line of the three AER tables: "TOTAL_ERR_COR 3".
std::optional<std::uint64_t> total_errors(const Tree& tree, const std::string& path, std::string_view total) {
  const std::optional<std::string> text = tree.attribute(path);
  const std::optional<std::string_view> count = text ? value_of(*text, total) : std::nullopt;
  if (!count) return std::nullopt;
  return parse_whole<std::uint64_t>(*count);
}

class Devices {
 public:
  Devices(const FactsSource& source, const Graph& graph) : tree_(source.tree) {
    for (const Node& node : graph.nodes)
      if (!node.bus_id.empty()) names_.emplace(node.bus_id, node.name);
  }

  std::vector<DeviceFacts> read() {
    for (const std::string& bus_id : wanted()) devices_.push_back(read_device(bus_id));
    return std::move(devices_);
  }
  int bridges() const { return bridges_; }
  int unreadable_bridges() const { return unreadable_bridges_; }

 private:
  // Those of the graph, NVSwitches, functions that are like one of the graph, and what is above all of them.
  std::set<std::string> wanted() {
    std::set<std::string> wanted;
    for (const std::string& bus_id : tree_.list(std::string(kPci)).value_or(std::vector<std::string>())) {
      if (wanted.size() >= kMaxDevices) break;
      if (!is_bus_id(bus_id) || !is_wanted(bus_id)) continue;
      wanted.insert(bus_id);
      const std::optional<std::string> place = tree_.link(std::string(kPci) + bus_id);
      for (const std::string_view part : base::split(place ? std::string_view(*place) : std::string_view(), '/'))
        if (is_bus_id(part)) wanted.emplace(part);
    }
    return wanted;
  }

  bool is_wanted(const std::string& bus_id) {
    const std::string folder = folder_of(bus_id);
    const int pci_class = class_of(tree_, folder);
    // Most devices of a server are none of these; their ids need not be read.
    const int base_class = pci_class >> 8;
    if (base_class != 0x02 && base_class != 0x03 && base_class != 0x06 && base_class != 0x0c && base_class != 0x12)
      return false;
    const PciRole role = pci_role(pci_class, id_of(tree_, folder).value_or(""));
    return role != PciRole::Other && role != PciRole::Storage;
  }

  DeviceFacts read_device(const std::string& bus_id) {
    const std::string folder = folder_of(bus_id);
    DeviceFacts facts;
    facts.bus_id = bus_id;
    if (const auto found = names_.find(bus_id); found != names_.end()) facts.node = found->second;
    facts.pci_class = tree_.attribute(folder + "class");
    facts.device = id_of(tree_, folder);
    facts.kind = kind_of(class_of(tree_, folder), facts.device.value_or(""));
    facts.driver = tree_.link_name(folder + "driver");
    facts.power_state = tree_.attribute(folder + "power_state");
    if (const std::optional<long long> numa = tree_.integer(folder + "numa_node"); numa && *numa >= -1 && *numa < 65536)
      facts.numa = static_cast<int>(*numa);
    read_functions(folder, facts);
    read_errors(folder, facts);
    read_iommu(folder, facts);
    if (facts.kind == "bridge") read_bridge(folder, facts);
    if (facts.kind == "gpu") read_gpu(folder, facts);
    return facts;
  }

  static std::optional<std::string> kind_of(int pci_class, std::string_view id) {
    constexpr int kPciBridge = 0x0604;
    switch (pci_role(pci_class, id)) {
      case PciRole::Gpu:
        return "gpu";
      case PciRole::Nic:
        return "nic";
      case PciRole::NvSwitch:
        return "nvswitch";
      case PciRole::Storage:
      case PciRole::Other:
        break;
    }
    if (pci_class == kPciBridge) return "bridge";
    return std::nullopt;
  }

  void read_functions(const std::string& folder, DeviceFacts& facts) const {
    facts.physical_function = tree_.link_name(folder + "physfn");
    const std::optional<long long> functions = tree_.integer(folder + "sriov_numvfs");
    if (functions && *functions >= 0 && *functions < 65536) facts.virtual_functions = static_cast<int>(*functions);
  }

  void read_errors(const std::string& folder, DeviceFacts& facts) const {
    facts.correctable_errors = total_errors(tree_, folder + "aer_dev_correctable", "TOTAL_ERR_COR");
    facts.nonfatal_errors = total_errors(tree_, folder + "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL");
    facts.fatal_errors = total_errors(tree_, folder + "aer_dev_fatal", "TOTAL_ERR_FATAL");
  }

  void read_iommu(const std::string& folder, DeviceFacts& facts) const {
    facts.iommu_group = tree_.link_name(folder + "iommu_group");
    if (facts.iommu_group)
      facts.iommu_type = tree_.attribute("sys/kernel/iommu_groups/" + *facts.iommu_group + "/type");
  }

  void read_bridge(const std::string& folder, DeviceFacts& facts) {
    ++bridges_;
    const std::optional<TreeFile> config = tree_.file(folder + "config");
    if (config) facts.acs = read_acs([&](unsigned offset) { return config->word32(offset); });
    if (!facts.acs) ++unreadable_bridges_;
  }

  // NVIDIA's driver tells the UUID to everybody, amdgpu a number that is as unique.
  void read_gpu(const std::string& folder, DeviceFacts& facts) const {
    facts.serial = tree_.attribute(folder + "serial_number");
    facts.uuid = tree_.attribute(folder + "unique_id");
    const std::optional<std::string> about =
        tree_.attribute("proc/driver/nvidia/gpus/" + facts.bus_id + "/information");
    if (!about) return;
    if (const std::optional<std::string_view> uuid = value_of(*about, "GPU UUID:"); uuid && uuid->starts_with("GPU-"))
      facts.uuid = *uuid;
    if (const std::optional<std::string_view> firmware = value_of(*about, "Video BIOS:");
        firmware && !firmware->empty())
      facts.firmware = *firmware;
  }

  const Tree& tree_;
  std::map<std::string, std::string, std::less<>> names_;  // in the graph, by bus id
  std::vector<DeviceFacts> devices_;
  int bridges_ = 0;
  int unreadable_bridges_ = 0;
};

// By interface, those of devices that have only one: ports of one card share its bus id.
void add_macs(const std::vector<InterfaceFacts>& interfaces, std::vector<DeviceFacts>& devices) {
  for (DeviceFacts& device : devices) {
    if (device.kind != "nic") continue;
    for (const InterfaceFacts& interface : interfaces)
      if (interface.kind == "physical" && interface.bus_id == device.bus_id && !device.mac) device.mac = interface.mac;
  }
}

}  // namespace

void read_devices(const FactsSource& source, const Graph& graph, HostFacts& host, std::vector<Remark>& remarks) {
  Devices devices(source, graph);
  host.devices = devices.read();
  add_macs(host.interfaces, host.devices);
  if (devices.unreadable_bridges() > 0)
    remarks.push_back(
        {RemarkKind::Unreadable, "PCIe ACS",
         fmt::format("the configuration space of {} of {} bridges above GPUs and NICs is cut short; "
                     "look (or record) as root, outside a container, to see whether they redirect traffic",
                     devices.unreadable_bridges(), devices.bridges())});
}

}  // namespace weft::topology
