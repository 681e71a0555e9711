// Platform: what the firmware calls this machine, and whether it is one.
//
// On x86 the processor says whether a hypervisor runs below. Which one it is tell the firmware's tables, Xen's own
// folder, or the clocks that hypervisors offer.
#include <array>
#include <utility>

#include "topology/facts/parsers.hpp"
#include "topology/facts/readers.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

struct Sign {
  std::string_view text;  // that the vendor's or the product's name contains
  std::string_view hypervisor;
};

// Names in DMI tables of virtual machines. Microsoft and Amazon make real machines, too: of theirs the product counts.
constexpr std::array kSigns = {Sign{"QEMU", "kvm"},
                               Sign{"KVM", "kvm"},
                               Sign{"VMware", "vmware"},
                               Sign{"Xen", "xen"},
                               Sign{"HVM domU", "xen"},
                               Sign{"innotek", "virtualbox"},
                               Sign{"VirtualBox", "virtualbox"},
                               Sign{"Google Compute Engine", "kvm"},
                               Sign{"OpenStack", "kvm"},
                               Sign{"Alibaba Cloud", "kvm"},
                               Sign{"DigitalOcean", "kvm"},
                               Sign{"Nutanix", "kvm"},
                               Sign{"Virtual Machine", "hyper-v"},
                               Sign{"bhyve", "bhyve"},
                               Sign{"Parallels", "parallels"}};

constexpr std::array kClocks = {std::pair<std::string_view, std::string_view>{"kvm-clock", "kvm"},
                                std::pair<std::string_view, std::string_view>{"hyperv_clocksource", "hyper-v"},
                                std::pair<std::string_view, std::string_view>{"xen", "xen"}};

std::optional<std::string> dmi(const Tree& tree, const std::string& name) {
  std::optional<std::string> text = tree.attribute("sys/class/dmi/id/" + name);
  return text ? text : tree.attribute("sys/devices/virtual/dmi/id/" + name);
}

std::optional<std::string> by_firmware(const PlatformFacts& platform) {
  for (const Sign& sign : kSigns)
    for (const auto& name : {platform.vendor, platform.product})
      if (name && name->find(sign.text) != std::string::npos) return std::string(sign.hypervisor);
  const bool instance = platform.vendor == "Amazon EC2" && platform.product;
  if (instance && platform.product->find(".metal") == std::string::npos) return "kvm";
  return std::nullopt;
}

std::optional<std::string> by_clock(const Tree& tree) {
  const std::optional<std::string> clocks =
      tree.attribute("sys/devices/system/clocksource/clocksource0/available_clocksource");
  if (!clocks) return std::nullopt;
  for (const auto& [clock, hypervisor] : kClocks)
    if (clocks->find(clock) != std::string::npos) return std::string(hypervisor);
  return std::nullopt;
}

// "cpu family\t: 25" -> "25", of the first processor.
std::optional<std::string_view> of_processor(std::string_view cpuinfo, std::string_view key) {
  for (const std::string_view line : lines_of(cpuinfo)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == key) return trim(line.substr(colon + 1));
  }
  return std::nullopt;
}

std::optional<int> number_of_processor(std::string_view cpuinfo, std::string_view key) {
  const std::optional<std::string_view> text = of_processor(cpuinfo, key);
  return text ? parse_whole<int>(*text) : std::nullopt;
}

// The hypervisor bit of x86; nothing where processors have no flags.
std::optional<bool> says_virtual(std::string_view cpuinfo) {
  const std::optional<std::string_view> flags = of_processor(cpuinfo, "flags");
  if (!flags) return std::nullopt;
  for (const std::string_view flag : words_of(*flags))
    if (flag == "hypervisor") return true;
  return false;
}

}  // namespace

// Each architecture has words of its own for what it is.
void parse_cpuinfo(std::string_view cpuinfo, PlatformFacts& platform) {
  if (const std::optional<std::string_view> vendor = of_processor(cpuinfo, "vendor_id")) {
    platform.cpu_architecture = "x86_64";
    platform.cpu_vendor = *vendor;
    platform.cpu_family = number_of_processor(cpuinfo, "cpu family");
    platform.cpu_model = number_of_processor(cpuinfo, "model");
  } else if (of_processor(cpuinfo, "CPU implementer")) {
    platform.cpu_architecture = "arm64";
  } else if (of_processor(cpuinfo, "cpu").value_or("").starts_with("POWER")) {
    platform.cpu_architecture = "ppc64";
  }
  platform.virtual_machine = says_virtual(cpuinfo);
}

void read_platform(const FactsSource& source, PlatformFacts& platform) {
  const Tree& tree = source.tree;
  platform.vendor = dmi(tree, "sys_vendor");
  platform.product = dmi(tree, "product_name");
  platform.bios = dmi(tree, "bios_version");
  if (const std::optional<std::string> cpuinfo = tree.text("proc/cpuinfo")) parse_cpuinfo(*cpuinfo, platform);
  if (platform.virtual_machine == false) return;
  platform.hypervisor = tree.attribute("sys/hypervisor/type");
  if (!platform.hypervisor) platform.hypervisor = by_firmware(platform);
  if (!platform.hypervisor && platform.virtual_machine == true) platform.hypervisor = by_clock(tree);
  if (platform.hypervisor) platform.virtual_machine = true;
}

}  // namespace weft::topology
