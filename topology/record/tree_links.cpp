// Walks a tree and looks at its links, without following any.
#include "topology/record/tree_links.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <climits>
#include <memory>
#include <string_view>
#include <vector>

#include "topology/record/unpack.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxEntries = std::size_t{1} << 20;
constexpr std::size_t kMaxDepth = 64;

// The links of a kernel's own file system lead where that kernel says.
bool is_live(const std::string& folder) {
  struct statfs about;
  return ::statfs(folder.c_str(), &about) == 0 && (about.f_type == SYSFS_MAGIC || about.f_type == PROC_SUPER_MAGIC);
}

class LinkCheck {
 public:
  explicit LinkCheck(const std::string& root) : root_(root) {}

  // All links of a folder that is `depth` levels below the root.
  Status check(const std::string& folder, std::size_t depth) {
    if (depth > kMaxDepth) return wrong(folder, fmt::format("is more than {} folders deep", kMaxDepth));
    const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir((root_ + folder).c_str()), ::closedir);
    if (!open) return {};
    std::vector<std::string> below;
    while (const dirent* entry = ::readdir(open.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (++entries_ > kMaxEntries) return wrong(folder, fmt::format("is one of more than {} entries", kMaxEntries));
      const std::string path = folder + "/" + std::string(name);
      const unsigned char type = entry->d_type != DT_UNKNOWN ? entry->d_type : type_of(path);
      if (type == DT_LNK) WEFT_TRY(check_link(path, depth));
      // hwloc would wait for its writer, for ever.
      if (type == DT_FIFO && (path.starts_with("/sys") || path.starts_with("/proc")))
        return wrong(path, "is a pipe; a recorded tree holds files");
      if (type == DT_DIR) below.push_back(path);
    }
    for (const std::string& path : below) WEFT_TRY(check(path, depth + 1));
    return {};
  }

 private:
  unsigned char type_of(const std::string& path) const {
    struct stat about;
    if (::lstat((root_ + path).c_str(), &about) != 0) return DT_UNKNOWN;
    return static_cast<unsigned char>(IFTODT(about.st_mode));
  }
  Status check_link(const std::string& path, std::size_t depth) const {
    char target[PATH_MAX];
    const ssize_t bytes = ::readlink((root_ + path).c_str(), target, sizeof target);
    if (bytes < 0 || stays_inside(std::string_view(target, static_cast<std::size_t>(bytes)), depth)) return {};
    return wrong(path, "is a link that leads out of the tree; remove it");
  }
  Status wrong(const std::string& path, std::string_view reason) const {
    return Status(Code::Corrupt, fmt::format("{}{}: {}", root_, path, reason));
  }

  const std::string& root_;
  std::size_t entries_ = 0;
};

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
  return {};
}

}  // namespace weft::topology
