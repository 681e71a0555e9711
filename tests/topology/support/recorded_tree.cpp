// Files as sysfs has them.
#include "tests/topology/support/recorded_tree.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weft::topology::test {
namespace {

std::string mask_of(int first, int count) { return fmt::format("{:08x}", ((std::uint64_t{1} << count) - 1) << first); }

// The first 64 bytes of a bridge's configuration space, as far as anybody reads it.
std::string bridge_config(int primary, int secondary, int last) {
  std::string bytes(64, '\0');
  bytes[0x0e] = 1;  // header type: bridge
  bytes[0x18] = static_cast<char>(primary);
  bytes[0x19] = static_cast<char>(secondary);
  bytes[0x1a] = static_cast<char>(last);
  return bytes;
}

}  // namespace

void RecordedTree::write(const std::string& path, std::string_view text) {
  const std::filesystem::path full = root_ + path;
  std::filesystem::create_directories(full.parent_path());
  std::ofstream(full, std::ios::binary) << text;
}

void RecordedTree::link(const std::string& path, const std::string& target) {
  const std::filesystem::path full = root_ + path;
  std::filesystem::create_directories(full.parent_path());
  std::filesystem::create_symlink(target, full);
}

void RecordedTree::add_cpus(int numas, int cores) {
  const int all = numas * cores;
  const std::string list = fmt::format("0-{}\n", all - 1);
  for (const char* name : {"possible", "present", "online"})
    write(fmt::format("/sys/devices/system/cpu/{}", name), list);
  for (const char* name : {"possible", "online", "has_memory", "has_cpu"})
    write(fmt::format("/sys/devices/system/node/{}", name), fmt::format("0-{}\n", numas - 1));
  for (int cpu = 0; cpu < all; ++cpu) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/topology/", cpu);
    const int numa = cpu / cores;
    write(folder + "physical_package_id", fmt::format("{}\n", numa));
    write(folder + "core_id", fmt::format("{}\n", cpu));
    write(folder + "core_siblings", mask_of(numa * cores, cores) + "\n");
    write(folder + "package_cpus", mask_of(numa * cores, cores) + "\n");
    write(folder + "thread_siblings", mask_of(cpu, 1) + "\n");
    write(folder + "core_cpus", mask_of(cpu, 1) + "\n");
  }
  for (int numa = 0; numa < numas; ++numa) {
    const std::string folder = fmt::format("/sys/devices/system/node/node{}/", numa);
    write(folder + "cpumap", mask_of(numa * cores, cores) + "\n");
    write(folder + "cpulist", fmt::format("{}-{}\n", numa * cores, (numa + 1) * cores - 1));
    write(folder + "meminfo", fmt::format("Node {} MemTotal: 1048576 kB\n", numa));
  }
  write("/proc/meminfo", fmt::format("MemTotal: {} kB\n", 1048576 * numas));
}

std::string RecordedTree::folder_of(const Pci& pci) const {
  std::string folder =
      "/sys/devices/pci" + pci.bus_id.substr(0, 5) + (pci.above.empty() ? pci.bus_id : pci.above.front()).substr(5, 2);
  for (const std::string& bridge : pci.above) folder += "/" + bridge;
  return folder + "/" + pci.bus_id;
}

void RecordedTree::add_pci(const Pci& pci) {
  const std::string folder = folder_of(pci);
  write(folder + "/class", pci.pci_class + "\n");
  write(folder + "/vendor", pci.vendor + "\n");
  write(folder + "/device", pci.device + "\n");
  write(folder + "/local_cpulist", pci.cpus + "\n");
  const std::size_t dash = pci.cpus.find('-');
  const int first = std::atoi(pci.cpus.c_str());
  const int last = dash == std::string::npos ? first : std::atoi(pci.cpus.c_str() + dash + 1);
  write(folder + "/local_cpus", mask_of(first, last - first + 1) + "\n");
  const int bus = static_cast<int>(std::strtol(pci.bus_id.substr(5, 2).c_str(), nullptr, 16));
  write(folder + "/config",
        pci.secondary_bus >= 0 ? bridge_config(bus, pci.secondary_bus, pci.last_bus) : std::string(64, '\0'));
  for (const auto& [name, value] : pci.attributes) write(folder + "/" + name, value + "\n");
  link("/sys/bus/pci/devices/" + pci.bus_id, "../../.." + folder.substr(4));
}

void RecordedTree::add_net(const std::string& name, const Pci& on, const std::string& operstate,
                           const std::string& speed) {
  const std::string folder = folder_of(on) + "/net/" + name;
  write(folder + "/operstate", operstate + "\n");
  write(folder + "/speed", speed + "\n");
  write(folder + "/address", "02:00:00:00:00:01\n");
  link(folder + "/device", "../../../" + on.bus_id);
  link("/sys/class/net/" + name, "../.." + folder.substr(4));
}

void RecordedTree::add_verbs(const std::string& name, const Pci& on, const std::string& state,
                             const std::string& rate) {
  const std::string folder = folder_of(on) + "/infiniband/" + name;
  write(folder + "/ports/1/state", state + "\n");
  write(folder + "/ports/1/rate", rate + "\n");
  link(folder + "/device", "../../../" + on.bus_id);
  link("/sys/class/infiniband/" + name, "../.." + folder.substr(4));
}

}  // namespace weft::topology::test
