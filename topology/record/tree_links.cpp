// Walks a tree and looks at its links, without following any.
#include "topology/record/tree_links.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/shortage.hpp"
#include "topology/cpu_set.hpp"
#include "topology/open_inside.hpp"
#include "topology/read_file.hpp"
#include "topology/record/unpack.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxEntries = std::size_t{1} << 20;
constexpr std::size_t kMaxDepth = 64;
constexpr std::string_view kLeadsOut = "is a link that leads out of the tree; remove it";
constexpr std::size_t kMaxMaskBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxTreeTextBytes = std::size_t{16} << 20;  // proc/cpuinfo of ten thousand CPUs

// The links of a kernel's own file system lead where that kernel says.
bool is_live(const std::string& folder) {
  struct statfs about;
  return ::statfs(folder.c_str(), &about) == 0 && (about.f_type == SYSFS_MAGIC || about.f_type == PROC_SUPER_MAGIC);
}

// Of what libhwloc reads to its end, however long that is: far more than kernels write.
std::size_t most_bytes(std::string_view path) {
  constexpr std::string_view kMasks[] = {"/sys/devices/system/", "/sys/devices/cpu_", "/sys/fs/cgroup/"};
  constexpr std::string_view kTexts[] = {"/proc/self/", "/proc/cpuinfo", "/proc/meminfo", "/proc/mounts"};
  const auto begins = [path](std::string_view start) { return path.starts_with(start); };
  if (path.ends_with("/local_cpus") || std::any_of(std::begin(kMasks), std::end(kMasks), begins)) return kMaxMaskBytes;
  return std::any_of(std::begin(kTexts), std::end(kTexts), begins) ? kMaxTreeTextBytes : ~std::size_t{0};
}

struct Entry {
  std::string path;
  unsigned char type;
};

class LinkCheck {
 public:
  explicit LinkCheck(const std::string& root)
      : root_(root), folder_(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

  // All links of a folder that is `depth` levels below the root.
  Status check(const std::string& folder, std::size_t depth) {
    if (depth > kMaxDepth) return wrong(folder, fmt::format("is more than {} folders deep", kMaxDepth));
    WEFT_TRY_ASSIGN(const std::vector<Entry> entries, list(folder));
    for (const Entry& entry : entries) {
      if (entry.type == DT_LNK) WEFT_TRY(check_link(entry.path, depth));
      if (entry.type != DT_DIR) WEFT_TRY(check_kind(entry.path));
    }
    for (const Entry& entry : entries)
      if (entry.type == DT_DIR) WEFT_TRY(check(entry.path, depth + 1));
    return {};
  }

 private:
  Result<std::vector<Entry>> list(const std::string& folder) {
    std::vector<Entry> entries;
    const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir((root_ + folder).c_str()), ::closedir);
    if (!open && base::is_shortage(errno)) return base::shortage(errno).with_context(root_ + folder);
    while (const dirent* entry = open ? ::readdir(open.get()) : nullptr) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (++entries_ > kMaxEntries) return wrong(folder, fmt::format("is one of more than {} entries", kMaxEntries));
      std::string path = fmt::format("{}/{}", folder, name);
      const unsigned char type = entry->d_type != DT_UNKNOWN ? entry->d_type : type_of(path);
      entries.push_back({std::move(path), type});
    }
    return entries;
  }
  unsigned char type_of(const std::string& path) const {
    struct stat about;
    if (::lstat((root_ + path).c_str(), &about) != 0) return DT_UNKNOWN;
    return static_cast<unsigned char>(IFTODT(about.st_mode));
  }
  Status check_link(const std::string& path, std::size_t depth) const {
    char target[PATH_MAX];
    const ssize_t bytes = ::readlink((root_ + path).c_str(), target, sizeof target);
    if (bytes < 0 || stays_inside(std::string_view(target, static_cast<std::size_t>(bytes)), depth)) return {};
    return wrong(path, kLeadsOut);
  }
  // Also of what a link leads to. libhwloc would wait for a pipe's writer, and read a device, for ever.
  Status check_kind(const std::string& path) const {
    if (!path.starts_with("/sys/") && !path.starts_with("/proc/")) return {};
    const base::FileDescriptor file = open_inside(folder_.get(), path.c_str() + 1, O_PATH, Leading::Refused);
    if (!file && base::is_shortage(errno)) return base::shortage(errno).with_context(root_ + path);
    if (!file && errno == EXDEV) return wrong(path, kLeadsOut);
    if (!file && errno == EAGAIN) return wrong(path, "cannot be looked at, because files are being moved; try again");
    struct stat about {};
    if (!file || ::fstat(file.get(), &about) != 0) return {};
    if (S_ISFIFO(about.st_mode)) return wrong(path, "is a pipe; a recorded tree holds files");
    if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
      return wrong(path, "is a device; a recorded tree holds files");
    const std::size_t most = most_bytes(path);
    if (S_ISREG(about.st_mode) && static_cast<std::uint64_t>(about.st_size) > most)
      return wrong(path, fmt::format("is longer than {} bytes, the most that is read", most));
    return {};
  }
  Status wrong(const std::string& path, std::string_view reason) const {
    return Status(Code::Corrupt, fmt::format("{}{}: {}", root_, path, reason));
  }

  const std::string& root_;
  base::FileDescriptor folder_;
  std::size_t entries_ = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// As the kernel writes it: upwards, without leading zeros, a number last. Of others libhwloc understands something else,
// even nothing.
bool is_list_of_nodes(std::string_view text) {
  if (text.ends_with(',')) return false;
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    if (text[i] == '0' && is_digit(text[i + 1]) && (i == 0 || !is_digit(text[i - 1]))) return false;
  const std::vector<CpuRange> ranges = parse_cpu_list(text);
  return !ranges.empty() && std::adjacent_find(ranges.begin(), ranges.end(), [](const CpuRange& a, const CpuRange& b) {
                              return b.first <= a.last;
                            }) == ranges.end();
}

// Without that list libhwloc takes the numbers of all "node7", however they are written, and makes room for as many.
Status check_node_folders(const std::string& folder) {
  constexpr std::string_view kStart = "node";
  constexpr int kMaxNode = 0xffff;
  struct stat about;
  if (::stat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) return {};
  bool any = false;
  for (const std::string& name : list_folder(folder)) {
    if (!name.starts_with(kStart) || name.size() == kStart.size() ||
        std::isalpha(static_cast<unsigned char>(name[kStart.size()])) != 0)
      continue;
    const std::string_view number = std::string_view(name).substr(kStart.size());
    const std::optional<int> value = parse_whole<int>(number);
    if (!value || *value < 0 || *value > kMaxNode || (number.size() > 1 && number.front() == '0'))
      return Status(Code::Corrupt, fmt::format("{}/{}: names no NUMA node; remove it", folder, name));
    any = true;
  }
  if (any) return {};
  return Status(Code::Corrupt,
                fmt::format("{}: holds no NUMA node and no list of them (online); complete or remove it", folder));
}

// libhwloc ends the process where there are no nodes. Wherever links lead to them: they were checked before.
Status check_nodes(const std::string& root) {
  const std::string folder = root + "/sys/devices/system/node";
  const std::string path = folder + "/online";
  struct stat about;
  if (::stat(path.c_str(), &about) != 0) return check_node_folders(folder);
  const std::string text = read_attribute(path).value_or("");
  // What gathers trees for libhwloc may write the end of a C string into the file.
  if (is_list_of_nodes(trim(text.c_str()))) return {};
  return Status(Code::Corrupt, fmt::format("{}: is no list of NUMA nodes (\"0-1\"); mend or remove it", path));
}

}  // namespace

Status check_links(const std::string& root) {
  LinkCheck links(root);
  for (const char* part : {"/sys", "/proc", "/etc", "/run", "/dev"}) {
    struct stat about;
    const std::string folder = root + part;
    if (::lstat(folder.c_str(), &about) != 0) continue;
    if (S_ISLNK(about.st_mode))
      return Status(Code::Corrupt, fmt::format("{}: is a link; a recorded tree holds the folder itself", folder));
    if (!is_live(folder)) WEFT_TRY(links.check(part, 1));
  }
  return check_nodes(root);
}

}  // namespace weft::topology
