// What is known of a host besides its graph, in a few lines.
#include <fmt/format.h>

#include <string>

#include "report.hpp"

namespace weft::topo_probe {
namespace {

using topology::HostFacts;

std::string bytes_words(std::uint64_t bytes) {
  if (bytes == topology::kUnlimited) return "unlimited";
  constexpr std::pair<std::string_view, int> kUnits[] = {{"GiB", 30}, {"MiB", 20}, {"KiB", 10}};
  for (const auto& [unit, bits] : kUnits)
    if (bytes >= std::uint64_t{1} << bits)
      return fmt::format("{:.4g} {}", static_cast<double>(bytes) / static_cast<double>(std::uint64_t{1} << bits), unit);
  return fmt::format("{} bytes", bytes);
}

// Collects the parts of one line: what is not known is not mentioned.
class Line {
 public:
  Line& add(std::string_view words) {
    if (!words.empty()) text_ += (text_.empty() ? "" : ", ") + std::string(words);
    return *this;
  }
  Line& add(std::string_view before, const std::optional<std::string>& known, std::string_view behind = "") {
    return known && !known->empty() ? add(fmt::format("{}{}{}", before, *known, behind)) : *this;
  }
  Line& add(const std::optional<bool>& known, std::string_view yes, std::string_view no) {
    return known ? add(*known ? yes : no) : *this;
  }
  Line& add(std::string_view before, const std::optional<std::uint64_t>& bytes) {
    return bytes ? add(fmt::format("{}{}", before, bytes_words(*bytes))) : *this;
  }
  Line& add(std::string_view before, const std::optional<std::vector<std::string>>& known) {
    return known && !known->empty() ? add(fmt::format("{}{}", before, fmt::join(*known, " "))) : *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Line kernel_line(const topology::KernelFacts& kernel) {
  return Line()
      .add("", kernel.version)
      .add("IOMMU ", kernel.iommu_type)
      .add(kernel.numa_balancing, "NUMA balancing on", "NUMA balancing off")
      .add("transparent hugepages ", kernel.transparent_hugepages)
      .add("governor ", kernel.governor);
}

Line limits_line(const HostFacts& facts) {
  Line line;
  line.add("memlock ", facts.process.memlock_bytes);
  if (facts.process.open_files) line.add(fmt::format("{} open files", *facts.process.open_files));
  return line.add("/dev/shm ", facts.container.shm_bytes)
      .add(facts.process.may_lock_all, "may lock all memory", "")
      .add("cpus ", facts.process.allowed_cpus)
      .add("NUMA nodes ", facts.process.allowed_memories);
}

}  // namespace

std::vector<HostLine> host_lines(const HostFacts& facts) {
  const auto& [kernel, platform, container] = std::tie(facts.kernel, facts.platform, facts.container);
  Line driver;
  driver.add("nvidia ", kernel.nvidia_driver).add(kernel.nvidia_open, "open kernel modules", "closed kernel modules");
  driver.add("modules ", kernel.modules).add("peer memory ", kernel.peer_memory_clients);
  const std::pair<std::string_view, Line> lines[] = {
      {"platform", Line().add("", platform.vendor).add("", platform.product).add("BIOS ", platform.bios)},
      {"virtual", Line().add(platform.virtual_machine, "a virtual machine", "").add("", platform.hypervisor)},
      {"kernel", kernel_line(kernel)},
      {"drivers", driver},
      {"fabric manager", Line().add(facts.fabric_manager, "runs", "does not run")},
      {"container", Line()
                        .add("", container.kind)
                        .add("cpus ", container.cgroup_cpus)
                        .add("NUMA nodes ", container.cgroup_memories)
                        .add("memory ", container.memory_limit_bytes)},
      {"limits", limits_line(facts)},
  };
  std::vector<HostLine> known;
  for (const auto& [name, line] : lines)
    if (!line.text().empty()) known.push_back({std::string(name), line.text()});
  return known;
}

}  // namespace weft::topo_probe
