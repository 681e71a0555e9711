// A copy of the facts from which what is a machine's own is taken away.
#include "topology/diff/common_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "topology/text.hpp"

namespace weft::topology {
namespace {

// Options of the boot line that name the node or its disk.
constexpr std::array<std::string_view, 7> kOwnOptions = {
    "root=", "BOOT_IMAGE=", "initrd=", "ip=", "nfsroot=", "resume=", "BOOTIF="};
// Variables that a site sets for all of a job; launchers give each rank others.
constexpr std::array<std::string_view, 4> kCommonVariables = {"NCCL_", "RCCL_", "UCX_", "FI_"};

bool starts_with_any(std::string_view text, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

std::string common_options(std::string_view command_line) {
  std::vector<std::string_view> options = words_of(command_line);
  std::erase_if(options, [](std::string_view option) { return starts_with_any(option, kOwnOptions); });
  return fmt::format("{}", fmt::join(options, " "));
}

// Others come and go with containers.
bool is_common(const InterfaceFacts& interface) { return interface.kind == "physical" || interface.kind == "bond"; }

}  // namespace

HostFacts common_facts(const HostFacts& host) {
  HostFacts common = host;
  common.devices.clear();
  common.hostname.reset();
  common.container.infiniband_devices.reset();
  if (host.kernel.command_line) common.kernel.command_line = common_options(*host.kernel.command_line);
  if (common.environment)
    std::erase_if(*common.environment,
                  [](const Variable& variable) { return !starts_with_any(variable.name, kCommonVariables); });
  std::erase_if(common.interfaces, [](const InterfaceFacts& interface) { return !is_common(interface); });
  for (InterfaceFacts& interface : common.interfaces) {
    interface.mac.reset();
    interface.addresses.clear();
  }
  return common;
}

DeviceFacts common_facts(const DeviceFacts& device) {
  DeviceFacts common = device;
  common.uuid.reset();
  common.guid.reset();
  common.mac.reset();
  common.system_image_guid.reset();
  common.serial.reset();
  for (PortFacts& port : common.ports) port.gids.clear();
  return common;
}

}  // namespace weft::topology
