// Facts of a NCCL or RCCL topology document.
#include "topology/import/nccl_facts.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "topology/guid.hpp"
#include "topology/import/nccl_values.hpp"
#include "topology/import/source_text.hpp"

namespace weft::topology::nccl {
namespace {

constexpr long long kMaxNumber = 1 << 30;
constexpr double kMbitsInGbyte = 8000;
constexpr double kMaxMbits = 1e9;

std::optional<int> number(const pugi::xml_node& element, const char* name) {
  const std::optional<long long> value = integer(element, name);
  return value && *value >= 0 && *value <= kMaxNumber ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

void read_word(const pugi::xml_node& element, const char* name, std::optional<std::string>& fact) {
  const std::string_view text = element.attribute(name).value();
  if (!fact && !text.empty()) fact = as_node_name(text);
}

std::optional<bool> flag(const pugi::xml_node& element, const char* name) {
  const std::optional<long long> value = integer(element, name);
  return value ? std::optional(*value != 0) : std::nullopt;
}

PortFacts port_facts(const pugi::xml_node& net) {
  PortFacts port;
  port.index = number(net, "dev");
  port.number = number(net, "port").value_or(port.number);
  const double mbits = static_cast<double>(integer(net, "speed").value_or(0));
  if (mbits > 0 && mbits < kMaxMbits) port.rate_gbs = mbits / kMbitsInGbyte;
  return port;
}

void read_nic(const pugi::xml_node& nic, DeviceFacts& device) {
  for (const pugi::xml_node& net : nic.children("net")) {
    device.ports.push_back(port_facts(net));
    if (!device.gpu_direct) device.gpu_direct = flag(net, "gdr");
    if (!device.system_image_guid) device.system_image_guid = guid_of_nccl(net.attribute("guid").value());
  }
}

// NCCL writes "" where it cannot read the link. What is left out altogether it reads when it takes the file.
std::optional<bool> link_hidden(const pugi::xml_node& pci) {
  const bool stated = !pci.attribute("link_speed").empty() || !pci.attribute("link_width").empty();
  const PciLink told = link(pci);
  return stated && !told.gts && !told.width ? std::optional(true) : std::nullopt;
}

}  // namespace

void read_cpu_facts(const pugi::xml_node& cpu, PlatformFacts& platform) {
  read_word(cpu, "arch", platform.cpu_architecture);
  read_word(cpu, "vendor", platform.cpu_vendor);
  if (!platform.cpu_family) platform.cpu_family = number(cpu, "familyid");
  if (!platform.cpu_model) platform.cpu_model = number(cpu, "modelid");
}

DeviceFacts device_facts(const pugi::xml_node& pci, const pugi::xml_node& gpu_or_nic, const Node& node) {
  DeviceFacts device;
  device.bus_id = node.bus_id;
  device.node = node.name;
  if (const std::optional<long long> code = integer(pci, "class"); code && *code >= 0 && *code <= 0xffffff)
    device.pci_class = fmt::format("0x{:06x}", *code);
  device.link_hidden = link_hidden(pci);
  if (node.kind == NodeKind::Nic) {
    read_nic(gpu_or_nic, device);
    return device;
  }
  device.index = number(gpu_or_nic, "dev");
  device.sm = number(gpu_or_nic, "sm");
  read_word(gpu_or_nic, "gcn", device.instruction_set);
  device.gpu_direct = flag(gpu_or_nic, "gdr");
  return device;
}

}  // namespace weft::topology::nccl
