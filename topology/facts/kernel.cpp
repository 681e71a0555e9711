// Kernel: version, boot line, the settings that slow collectives down, modules, the NVIDIA driver, the IOMMU.
#include <algorithm>
#include <cstddef>

#include "topology/facts/parsers.hpp"
#include "topology/facts/readers.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxGovernors = 64;    // CPUs that are looked at
constexpr std::size_t kMaxIommuGroups = 64;  // groups that are looked at

// Modules that rules ask for: GPU drivers, what lets NICs reach GPU memory, RDMA stacks, passthrough.
constexpr std::string_view kModules[] = {
    "amdgpu",         "bnxt_re",    "cxi_core", "cxi_ss1",     "cxi_user",    "efa",       "efa_nv_peermem",
    "gdrdrv",         "hfi1",       "ib_core",  "ib_peer_mem", "ib_umad",     "ib_uverbs", "irdma",
    "mlx4_ib",        "mlx5_core",  "mlx5_ib",  "nouveau",     "nv_peer_mem", "nvidia",    "nvidia_fs",
    "nvidia_peermem", "nvidia_uvm", "rdma_cm",  "rdma_ucm",    "vfio_pci",    "xpmem"};

// Alone, or as the third word of "Linux version 6.1.0-13-amd64 (debian-kernel@...".
std::optional<std::string> version_of(const Tree& tree) {
  const std::optional<std::string> version = tree.attribute("proc/sys/kernel/osrelease");
  if (version) return version;
  const std::optional<std::string> sentence = tree.attribute("proc/version");
  const std::vector<std::string_view> words = words_of(sentence ? std::string_view(*sentence) : std::string_view());
  if (words.size() < 3 || words[1] != "version") return std::nullopt;
  return std::string(words[2]);
}

// "always [madvise] never" -> "madvise".
std::optional<std::string> chosen(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const std::size_t open = text->find('[');
  const std::size_t close = text->find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos || close == open + 1) return std::nullopt;
  return text->substr(open + 1, close - open - 1);
}

void read_governors(const Tree& tree, KernelFacts& kernel) {
  const std::string cpus = "sys/devices/system/cpu/";
  kernel.governor = tree.attribute(cpus + "cpu0/cpufreq/scaling_governor");
  if (!kernel.governor) return;
  std::vector<std::string> names = tree.list(cpus).value_or(std::vector<std::string>());
  std::erase_if(names, [](const std::string& name) {
    return !name.starts_with("cpu") || !parse_whole<unsigned>(std::string_view(name).substr(3));
  });
  const std::size_t step = std::max<std::size_t>(1, (names.size() + kMaxGovernors - 1) / kMaxGovernors);
  kernel.governors_differ = false;
  for (std::size_t i = 0; i < names.size(); i += step) {
    const std::optional<std::string> other = tree.attribute(cpus + names[i] + "/cpufreq/scaling_governor");
    if (other && other != kernel.governor) kernel.governors_differ = true;
  }
}

void read_modules(const Tree& tree, KernelFacts& kernel) {
  if (tree.exists("sys/module")) {
    kernel.modules.emplace();
    for (const std::string_view name : kModules)
      if (tree.exists("sys/module/" + std::string(name))) kernel.modules->emplace_back(name);
  }
  kernel.peer_memory_clients = tree.list("sys/kernel/mm/memory_peers");
}

// The type that all groups have which are looked at; nothing where they differ.
std::optional<std::string> common_type(const Tree& tree, const std::vector<std::string>& groups) {
  std::optional<std::string> common;
  for (std::size_t i = 0; i < std::min(groups.size(), kMaxIommuGroups); ++i) {
    const std::optional<std::string> type = tree.attribute("sys/kernel/iommu_groups/" + groups[i] + "/type");
    if (!type || (common && common != type)) return std::nullopt;
    common = type;
  }
  return common;
}

bool asks_for_identity(std::string_view command_line) {
  for (const std::string_view word : words_of(command_line))
    if (word == "iommu=pt" || word == "iommu.passthrough=1" || word == "iommu.passthrough=on") return true;
  return false;
}

void read_iommu(const Tree& tree, KernelFacts& kernel) {
  const std::optional<std::vector<std::string>> groups = tree.list("sys/kernel/iommu_groups");
  if (!groups) return;
  kernel.iommu_present = !groups->empty();
  if (groups->empty()) return;
  kernel.iommu_type = common_type(tree, *groups);
  if (!kernel.iommu_type && kernel.command_line && asks_for_identity(*kernel.command_line))
    kernel.iommu_type = "identity";
}

}  // namespace

// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build ...": the version is the first
// word of digits and points behind "Module".
void parse_nvidia_version(std::string_view text, KernelFacts& kernel) {
  const std::optional<std::string_view> line = value_of(text, "NVRM version:");
  const std::size_t module = line ? line->find("Module") : std::string_view::npos;
  if (module == std::string_view::npos) return;
  kernel.nvidia_open = line->find("Open Kernel") != std::string_view::npos;
  for (const std::string_view word : words_of(line->substr(module))) {
    if (word.find_first_not_of("0123456789.") != std::string_view::npos || word.find('.') == std::string_view::npos)
      continue;
    kernel.nvidia_driver = word;
    return;
  }
}

void read_kernel(const FactsSource& source, KernelFacts& kernel) {
  const Tree& tree = source.tree;
  kernel.version = version_of(tree);
  kernel.command_line = tree.attribute("proc/cmdline");
  if (tree.exists("sys/devices/system/cpu")) kernel.numa = tree.exists("sys/devices/system/node");
  if (const std::optional<long long> balancing = tree.integer("proc/sys/kernel/numa_balancing"))
    kernel.numa_balancing = *balancing != 0;
  kernel.transparent_hugepages = chosen(tree.attribute("sys/kernel/mm/transparent_hugepage/enabled"));
  const std::optional<long long> hugepages = tree.integer("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
  if (hugepages && *hugepages >= 0) kernel.hugepages = static_cast<std::uint64_t>(*hugepages);
  read_governors(tree, kernel);
  read_modules(tree, kernel);
  kernel.nvidia_driver = tree.attribute("sys/module/nvidia/version");
  if (const std::optional<std::string> text = tree.attribute("proc/driver/nvidia/version"))
    parse_nvidia_version(*text, kernel);
  read_iommu(tree, kernel);
}

}  // namespace weft::topology
