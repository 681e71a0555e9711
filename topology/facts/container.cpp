// Container: signs of one, what its cgroup leaves of the machine, and what it needs for collectives: /dev/shm and the
// devices in /dev/infiniband.
#include <sys/statvfs.h>

#include <algorithm>
#include <limits>

#include "base/parse.hpp"
#include "topology/facts/mounts.hpp"
#include "topology/facts/readers.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr int kMaxCgroupDepth = 32;
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;  // cgroup 1 writes a number near 2^63 for none

// ---- what kind

struct Sign {
  std::string_view cgroup;  // that a cgroup's path contains
  std::string_view kind;
};
constexpr Sign kCgroups[] = {{"kubepods", "kubernetes"}, {"/docker", "docker"},  {"libpod", "podman"}, {"/lxc", "lxc"},
                             {"/slurm", "slurm"},        {"slurmstepd", "slurm"}};

std::optional<std::string> kind_of(const FactsSource& source, const std::string& cgroups) {
  const auto set = [&](std::string_view name) { return source.environment && source.environment->has(name); };
  if (set("KUBERNETES_SERVICE_HOST")) return "kubernetes";
  if (set("APPTAINER_CONTAINER") || set("SINGULARITY_CONTAINER")) return "apptainer";
  if (cgroups.find(kCgroups[0].cgroup) != std::string::npos) return std::string(kCgroups[0].kind);
  if (source.tree.exists("run/.containerenv")) return "podman";
  if (source.tree.exists(".dockerenv")) return "docker";
  if (const std::optional<std::string> kind = kind_of_cgroups(cgroups)) return kind;
  if (set("container")) return std::string(*source.environment->get("container"));
  return std::nullopt;
}

// ---- the cgroup

struct Cgroup {
  std::string mount;  // "sys/fs/cgroup"
  std::string path;   // below it, "/" for the mount itself
  bool unified = true;
};

bool has(const std::vector<std::string>& options, std::string_view option) {
  return std::find(options.begin(), options.end(), option) != options.end();
}

// "3:cpuset:/docker/ab12" or, of the unified hierarchy, "0::/docker/ab12"; nothing if there is no such line. The path
// begins with a slash.
std::optional<std::string> path_of(const std::string& cgroups, std::string_view controller) {
  for (const std::string_view line : lines_of(cgroups)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    const std::vector<std::string_view> list = base::split(names, ',');
    const std::string_view path = trim(line.substr(second + 1));
    if (!path.starts_with('/')) continue;
    if (controller.empty() ? names.empty() : std::find(list.begin(), list.end(), controller) != list.end())
      return std::string(path);
  }
  return std::nullopt;
}

// The path is written as seen from the hierarchy's root; a container often has only its own part mounted.
std::string below_mount(std::string path, const std::string& mounted) {
  if (path.find("/..") != std::string::npos) return "/";
  const bool below = path.starts_with(mounted) && (path.size() == mounted.size() || path[mounted.size()] == '/');
  if (mounted != "/" && below) path.erase(0, mounted.size());
  return path.empty() ? "/" : path;
}

// Where this controller of the process is: in a hierarchy of its own if there is one.
std::optional<Cgroup> find_cgroup(const std::vector<Mount>& mounts, const std::string& cgroups,
                                  std::string_view controller) {
  if (const std::optional<std::string> path = path_of(cgroups, controller))
    for (const Mount& mount : mounts)
      if (mount.type == "cgroup" && has(mount.options, controller))
        return Cgroup{mount.point.substr(1), below_mount(*path, mount.root), false};
  if (const std::optional<std::string> path = path_of(cgroups, ""))
    for (const Mount& mount : mounts)
      if (mount.type == "cgroup2") return Cgroup{mount.point.substr(1), below_mount(*path, mount.root), true};
  return std::nullopt;
}

// The folder of the cgroup, then those above it up to the mount.
std::vector<std::string> lineage(const Cgroup& cgroup) {
  std::vector<std::string> folders;
  std::string path = cgroup.path;
  for (int depth = 0; depth < kMaxCgroupDepth && !path.empty() && path != "/"; ++depth) {
    folders.push_back(cgroup.mount + path + "/");
    path.erase(path.find_last_of('/'));
  }
  folders.push_back(cgroup.mount + "/");
  return folders;
}

void read_cpuset(const Tree& tree, const Cgroup& cgroup, ContainerFacts& container) {
  const std::string cpus = cgroup.unified ? "cpuset.cpus.effective" : "cpuset.effective_cpus";
  const std::string memories = cgroup.unified ? "cpuset.mems.effective" : "cpuset.effective_mems";
  for (const std::string& folder : lineage(cgroup)) {
    container.cgroup_cpus = tree.attribute(folder + cpus);
    if (!container.cgroup_cpus) continue;
    container.cgroup_memories = tree.attribute(folder + memories);
    return;
  }
}

// The least of those of the cgroup and all above it; kUnlimited if all of them say that there is none.
void read_memory(const Tree& tree, const Cgroup& cgroup, ContainerFacts& container) {
  for (const std::string& folder : lineage(cgroup)) {
    const std::optional<std::string> text =
        tree.attribute(folder + (cgroup.unified ? "memory.max" : "memory.limit_in_bytes"));
    if (!text) continue;
    const std::uint64_t bytes = parse_whole<std::uint64_t>(*text).value_or(kUnlimited);
    container.memory_limit_bytes =
        std::min(container.memory_limit_bytes.value_or(kUnlimited), bytes >= kNoLimit ? kUnlimited : bytes);
  }
}

// ---- /dev/shm

// "65536k", "50%" of memory, "1g".
std::optional<std::uint64_t> parse_size(std::string_view text, std::optional<std::uint64_t> memory_bytes) {
  if (text.empty()) return std::nullopt;
  const char unit = text.back();
  const bool bare = unit >= '0' && unit <= '9';
  const std::optional<std::uint64_t> number = parse_whole<std::uint64_t>(text.substr(0, text.size() - (bare ? 0 : 1)));
  if (!number) return std::nullopt;
  if (unit == '%') {
    if (!memory_bytes || *number > 100) return std::nullopt;
    return *memory_bytes / 100 * *number;
  }
  const int shift = bare ? 0 : unit == 'k' ? 10 : unit == 'm' ? 20 : unit == 'g' ? 30 : -1;
  if (shift < 0 || *number > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return *number << shift;
}

std::optional<std::uint64_t> memory_of(const Tree& tree) {
  const std::optional<std::string> text = tree.text("proc/meminfo");
  const std::optional<std::string_view> total = text ? value_of(*text, "MemTotal:") : std::nullopt;
  const std::vector<std::string_view> words = words_of(total.value_or(""));
  const std::optional<std::uint64_t> kib = words.empty() ? std::nullopt : parse_whole<std::uint64_t>(words.front());
  if (!kib || *kib > std::numeric_limits<std::uint64_t>::max() >> 10) return std::nullopt;
  return *kib << 10;
}

// By the mount's options; a tmpfs without a size holds half of the memory.
std::optional<std::uint64_t> shm_by_mount(const Tree& tree, const std::vector<Mount>& mounts) {
  const auto found = std::find_if(mounts.rbegin(), mounts.rend(), [](const Mount& m) { return m.point == "/dev/shm"; });
  if (found == mounts.rend() || found->type != "tmpfs") return std::nullopt;
  for (const std::string_view option : found->options)
    if (option.starts_with("size=")) return parse_size(option.substr(5), memory_of(tree));
  const std::optional<std::uint64_t> memory = memory_of(tree);
  if (!memory) return std::nullopt;
  return *memory / 2;
}

std::optional<std::uint64_t> shm_bytes(const Tree& tree, const std::vector<Mount>& mounts) {
  struct statvfs shm {};
  if (tree.live() && ::statvfs("/dev/shm", &shm) == 0) return static_cast<std::uint64_t>(shm.f_blocks) * shm.f_frsize;
  return shm_by_mount(tree, mounts);
}

}  // namespace

std::optional<std::string> kind_of_cgroups(std::string_view cgroups) {
  for (const Sign& sign : kCgroups)
    if (cgroups.find(sign.cgroup) != std::string_view::npos) return std::string(sign.kind);
  return std::nullopt;
}

void read_container(const FactsSource& source, ContainerFacts& container) {
  const Tree& tree = source.tree;
  const std::string cgroups = tree.text("proc/self/cgroup").value_or("");
  std::vector<Mount> mounts = parse_mounts(tree.text("proc/self/mountinfo").value_or(""));
  std::erase_if(mounts, [](const Mount& mount) { return !mount.point.starts_with('/'); });
  container.kind = kind_of(source, cgroups);
  if (const std::optional<Cgroup> cpuset = find_cgroup(mounts, cgroups, "cpuset"))
    read_cpuset(tree, *cpuset, container);
  if (const std::optional<Cgroup> memory = find_cgroup(mounts, cgroups, "memory"))
    read_memory(tree, *memory, container);
  container.shm_bytes = shm_bytes(tree, mounts);
  container.infiniband_devices = tree.list("dev/infiniband");
  // A whole /dev without that folder has none of its devices; recorded trees often hold a part only.
  if (!container.infiniband_devices && tree.exists("dev/null")) container.infiniband_devices.emplace();
}

}  // namespace weft::topology
