// Facts and contradictions of hwloc XML, by the names of its infos.
#include "topology/import/hwloc_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "topology/facts/port_states.hpp"
#include "topology/facts/readers.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxPorts = 16;
constexpr std::size_t kMaxThreads = 8;  // of a core: POWER has as many
constexpr std::string_view kPort = "Port";

using Text = std::optional<std::string>;

Text info(const Object& object, std::string_view name) {
  const std::string* value = object.info(name);
  const std::string_view text = value != nullptr ? trim(*value) : std::string_view();
  return text.empty() ? Text() : Text(text);
}

std::optional<int> number(const Text& text) { return text ? parse_whole<int>(*text) : std::nullopt; }

// In the words of NCCL, as all facts.
Text architecture(const Text& name) {
  if (name == "aarch64") return "arm64";
  if (name == "ppc64le") return "ppc64";
  return name;
}

// What stands for the kernel: asked by CPUID alone, hwloc puts all cores on one NUMA node.
std::optional<bool> tells_numa(const Object& machine) {
  const auto is_backend = [](const auto& info) { return info.first == "Backend"; };
  if (std::none_of(machine.infos.begin(), machine.infos.end(), is_backend)) return std::nullopt;
  const bool by_kernel = std::any_of(machine.infos.begin(), machine.infos.end(),
                                     [&](const auto& info) { return is_backend(info) && info.second != "x86"; });
  return by_kernel ? std::nullopt : std::optional(false);
}

void read_host(const ObjectTree& tree, HostFacts& host) {
  const Object& machine = tree.at(0);
  const std::vector<int>& packages = tree.all(ObjectKind::Package);
  const Object& cpu = packages.empty() ? machine : tree.at(packages.front());
  const auto of_cpu = [&](std::string_view name) { return info(cpu, name) ? info(cpu, name) : info(machine, name); };
  host.hostname = info(machine, "HostName");
  host.kernel.version = info(machine, "OSRelease");
  host.kernel.numa = tells_numa(machine);
  host.platform.vendor = info(machine, "DMISysVendor");
  host.platform.product = info(machine, "DMIProductName");
  host.platform.bios = info(machine, "DMIBIOSVersion");
  host.platform.cpu_architecture = architecture(info(machine, "Architecture"));
  host.platform.cpu_vendor = of_cpu("CPUVendor");
  host.platform.cpu_family = number(of_cpu("CPUFamilyNumber"));
  host.platform.cpu_model = number(of_cpu("CPUModelNumber"));
  const Text cgroup = info(machine, "LinuxCgroup");
  if (cgroup) host.container.kind = kind_of_cgroups(*cgroup);
  if (cgroup && tree.allowed_cpus) host.container.cgroup_cpus = tree.allowed_cpus->list();
  if (cgroup && tree.allowed_nodes) host.container.cgroup_memories = tree.allowed_nodes->list();
}

void read_shared_cores(const ObjectTree& tree, HostFacts& host) {
  if (tree.all(ObjectKind::Core).empty()) return;
  std::vector<std::string> shared;
  for (int object : tree.all(ObjectKind::Core)) {
    const std::optional<IndexSet>& cpus = tree.at(object).cpus;
    if (!cpus || cpus->count() > kMaxThreads) return;
    if (cpus->count() > 1) shared.push_back(cpus->list());
  }
  host.shared_cores = std::move(shared);
}

// "Port1State", "Port1GID0": the number of the port, and what is said of it.
void read_port_info(std::string_view name, const std::string& value, DeviceFacts& device) {
  name.remove_prefix(kPort.size());
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || number < 1 || number > 255) return;
  const std::string_view what = name.substr(static_cast<std::size_t>(end - name.data()));
  const auto found =
      std::find_if(device.ports.begin(), device.ports.end(), [&](const auto& p) { return p.number == number; });
  if (found == device.ports.end() && device.ports.size() == kMaxPorts) return;
  PortFacts& port = found != device.ports.end() ? *found : device.ports.emplace_back();
  port.number = number;
  if (what == "State") {
    if (const std::optional<int> state = parse_whole<int>(value)) port.state = port_state(*state);
  } else if (what == "LID") {
    const std::optional<unsigned long long> lid = parse_hex(value);
    if (lid && *lid <= 0xffff) port.lid = static_cast<int>(*lid);
  } else if (what.starts_with("GID")) {
    if (const std::optional<int> index = parse_whole<int>(what.substr(3))) port.gids.push_back({*index, value, {}, {}});
  }
}

void read_os_device(const Object& os_device, DeviceFacts& device, std::vector<InterfaceFacts>& interfaces) {
  const auto keep = [&](std::string_view name, Text& fact) {
    if (!fact) fact = info(os_device, name);
  };
  for (const char* name : {"NVIDIAUUID", "AMDUUID"}) keep(name, device.uuid);
  for (const char* name : {"NVIDIASerial", "AMDSerial"}) keep(name, device.serial);
  if ((os_device.os_device & kOpenFabrics) != 0) {
    if (!device.verbs) device.verbs = os_device.name;
    keep("NodeGUID", device.guid);
    keep("SysImageGUID", device.system_image_guid);
    for (const auto& [name, value] : os_device.infos)
      if (name.starts_with(kPort)) read_port_info(name, value, device);
  } else if ((os_device.os_device & kNetwork) != 0) {
    keep("Address", device.mac);
    InterfaceFacts& interface = interfaces.emplace_back();
    interface.name = os_device.name;
    interface.kind = "physical";
    interface.mac = info(os_device, "Address");
    interface.bus_id = device.bus_id;
  }
}

void read_devices(MachineProbe& machine, HostFacts& host) {
  std::map<int, std::size_t> facts_of;  // by object
  for (int object : machine.tree.all(ObjectKind::PciDevice)) {
    const int id = machine.node_of_object(object);
    if (id < 0 || machine.node(id).kind == NodeKind::Storage) continue;
    facts_of[object] = host.devices.size();
    DeviceFacts& device = host.devices.emplace_back();
    const Node& node = machine.node(id);
    device.bus_id = node.bus_id;
    device.node = node.name;
    device.kind = node.kind == NodeKind::Gpu ? "gpu" : "nic";
    device.device = node.device;
  }
  for (int object : machine.tree.all(ObjectKind::OsDevice)) {
    int above = object;
    while (above >= 0 && machine.tree.at(above).kind == ObjectKind::OsDevice) above = machine.tree.at(above).parent;
    if (const auto found = facts_of.find(above); found != facts_of.end())
      read_os_device(machine.tree.at(object), host.devices[found->second], host.interfaces);
  }
}

void compare_bus_ids(const ObjectTree& tree, Remarks& remarks) {
  std::map<std::string, int> seen;
  for (int object : tree.all(ObjectKind::PciDevice)) ++seen[tree.at(object).pci.bus_id()];
  for (const auto& [bus_id, count] : seen)
    if (count > 1) remarks.contradiction(0, fmt::format("{} devices have the bus id {}", count, bus_id));
}

void compare_packages(const ObjectTree& tree, Remarks& remarks) {
  const std::vector<int>& packages = tree.all(ObjectKind::Package);
  for (std::size_t a = 0; a < packages.size(); ++a)
    for (std::size_t b = a + 1; b < packages.size(); ++b) {
      const Object& first = tree.at(packages[a]);
      const Object& second = tree.at(packages[b]);
      if (first.cpus && second.cpus && first.cpus->intersects(*second.cpus))
        remarks.contradiction(0, fmt::format("the packages {} and {} both have the CPUs {}", first.index(),
                                             second.index(), (*first.cpus & *second.cpus).list()));
    }
}

// Links go both ways at one rate; matrices hold both.
void compare_rates(const ObjectTree& tree, Remarks& remarks) {
  const auto name = [&](int object) {
    for (; object >= 0; object = tree.at(object).parent)
      if (!tree.at(object).name.empty() || tree.at(object).kind != ObjectKind::OsDevice) break;
    if (object < 0) return std::string("an object that is not in the file");
    const Object& found = tree.at(object);
    if (!found.name.empty()) return found.name;
    return found.kind == ObjectKind::PciDevice ? found.pci.bus_id() : fmt::format("package {}", found.index());
  };
  for (const ObjectMatrix& matrix : tree.matrices)
    for (std::size_t a = 0; a < matrix.objects.size(); ++a)
      for (std::size_t b = a + 1; b < matrix.objects.size(); ++b)
        if (matrix.value(a, b) != matrix.value(b, a) && !remarks.full())
          remarks.contradiction(
              0, fmt::format("{}: {} to {} is {} MB/s, back it is {}", matrix.name, name(matrix.objects[a]),
                             name(matrix.objects[b]), matrix.value(a, b), matrix.value(b, a)));
}

}  // namespace

HostFacts hwloc_facts(MachineProbe& machine) {
  HostFacts host;
  read_host(machine.tree, host);
  read_shared_cores(machine.tree, host);
  read_devices(machine, host);
  return host;
}

void find_contradictions(const ObjectTree& tree, Remarks& remarks) {
  compare_bus_ids(tree, remarks);
  compare_packages(tree, remarks);
  compare_rates(tree, remarks);
}

}  // namespace weft::topology
