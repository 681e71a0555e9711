// What runs and lies beside the job: NVIDIA's fabric manager, NCCL's network plugins, the topology files of clouds.
#include <unistd.h>

#include <algorithm>
#include <array>

#include "topology/facts/readers.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxProcesses = 8192;
constexpr std::string_view kFabricManager = "nv-fabricmanage";  // the kernel keeps 15 characters
constexpr std::uint64_t kTicksPerSecond = 100;                  // USER_HZ, on all of Linux

bool is_fabric_manager(const Tree& tree, const std::string& process) {
  const std::optional<std::string> name = tree.attribute("proc/" + process + "/comm");
  return name && name->starts_with(kFabricManager);
}

// Where systemd started it, one read tells; else all processes are looked at.
std::optional<std::string> fabric_manager_process(const Tree& tree) {
  for (const char* folder : {"sys/fs/cgroup/", "sys/fs/cgroup/systemd/", "sys/fs/cgroup/unified/"}) {
    const std::optional<std::string> processes =
        tree.attribute(folder + std::string("system.slice/nvidia-fabricmanager.service/cgroup.procs"));
    for (const std::string_view process : lines_of(processes ? std::string_view(*processes) : std::string_view()))
      if (parse_whole<int>(process) && is_fabric_manager(tree, std::string(process))) return std::string(process);
  }
  std::size_t looked_at = 0;
  for (const std::string& process : tree.list("proc").value_or(std::vector<std::string>())) {
    if (!parse_whole<int>(process)) continue;
    if (++looked_at > kMaxProcesses) break;
    if (is_fabric_manager(tree, process)) return process;
  }
  return std::nullopt;
}

// Field 22 of proc/<pid>/stat; the name in field 2 may hold blanks and brackets.
std::optional<std::uint64_t> start_seconds(const Tree& tree, const std::string& process) {
  constexpr std::size_t kStart = 22 - 3;  // counted from the field behind the name
  const std::optional<std::string> stat = tree.attribute("proc/" + process + "/stat");
  const std::size_t name_end = stat ? stat->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return std::nullopt;
  const std::vector<std::string_view> fields = words_of(std::string_view(*stat).substr(name_end + 1));
  const std::optional<std::uint64_t> ticks =
      fields.size() > kStart ? parse_whole<std::uint64_t>(fields[kStart]) : std::nullopt;
  if (!ticks) return std::nullopt;
  return *ticks / kTicksPerSecond;
}

// The processes of a container are not those of its host: where there is no first process of a host, nothing that is
// missing says anything.
bool sees_all_processes(const Tree& tree) {
  const std::optional<std::string> first = tree.attribute("proc/1/comm");
  return first == "systemd" || first == "init";
}

bool has_nvidia(const HostFacts& host) {
  return std::any_of(host.devices.begin(), host.devices.end(), [](const DeviceFacts& device) {
    return device.kind == "nvswitch" || (device.kind == "gpu" && device.device && device.device->starts_with("10de:"));
  });
}

void read_fabric_manager(const Tree& tree, HostFacts& host) {
  if (!has_nvidia(host)) return;
  const std::optional<std::string> process = fabric_manager_process(tree);
  if (process) {
    host.fabric_manager = true;
    host.fabric_manager_start_s = start_seconds(tree, *process);
  } else if (sees_all_processes(tree)) {
    host.fabric_manager = false;
  }
}

// libnccl-net.so and those whose names clouds and NCCL_NET_PLUGIN give.
void read_plugins(const FactsSource& source, HostFacts& host) {
  std::vector<std::string> names = {"libnccl-net.so",     "libnccl-net-ofi.so",        "libnccl-net-aws-ofi.so",
                                    "libnccl-net-gib.so", "libnccl-net-fastsocket.so", "libnccl-net-spcx.so",
                                    "librccl-net.so"};
  if (source.environment)
    if (const auto plugin = source.environment->get("NCCL_NET_PLUGIN"); plugin && plugin->find('/') == plugin->npos) {
      names.emplace_back(*plugin);
      names.push_back("libnccl-net-" + std::string(*plugin) + ".so");
    }
  std::vector<std::string> found;
  bool known = false;
  for (const std::string& folder : library_folders(source)) {
    if (!source.tree.exists(folder)) continue;
    known = true;
    for (const std::string& name : names)
      if (source.tree.exists(folder + "/" + name) && std::find(found.begin(), found.end(), name) == found.end())
        found.push_back(name);
  }
  if (known) host.network_plugins = std::move(found);
}

bool holds_topology(const Tree& tree, const std::string& folder) {
  const std::vector<std::string> names = tree.list(folder).value_or(std::vector<std::string>());
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.ends_with(".xml") && name.find("topo") != std::string::npos;
  });
}

void read_topology_files(const FactsSource& source, HostFacts& host) {
  const Tree& tree = source.tree;
  constexpr std::array kFiles = {"var/run/nvidia-topologyd/virtualTopology.xml",
                                 "run/nvidia-topologyd/virtualTopology.xml"};
  constexpr std::array kFolders = {"opt/microsoft", "opt/amazon/ofi-nccl/share/aws-ofi-nccl/xml",
                                   "opt/aws-ofi-nccl/share/aws-ofi-nccl/xml", "usr/share/nvidia", "etc/nccl"};
  std::optional<std::string_view> named;
  if (source.environment) named = source.environment->get("NCCL_TOPO_FILE");
  const bool present =
      std::any_of(kFiles.begin(), kFiles.end(), [&](const char* file) { return tree.exists(file); }) ||
      std::any_of(kFolders.begin(), kFolders.end(), [&](const char* folder) { return holds_topology(tree, folder); }) ||
      (named && named->starts_with('/') && tree.exists(std::string(named->substr(1))));
  // Where not even /opt was recorded, a file that is not there says nothing.
  if (present || tree.exists("opt")) host.topology_file_present = present;
}

}  // namespace

void read_services(const FactsSource& source, HostFacts& host) {
  read_fabric_manager(source.tree, host);
  read_plugins(source, host);
  read_topology_files(source, host);
}

}  // namespace weft::topology
