// Bounded reads below a root folder.
#include "topology/facts/tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <utility>

#include "base/shortage.hpp"
#include "topology/open_inside.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

bool is_plain(int file) {
  struct stat about {};
  return ::fstat(file, &about) == 0 && S_ISREG(about.st_mode);
}

// Up to `most` bytes; nothing if reading fails before any came. An attribute comes in one piece, so `whole` saves the
// read that finds its end.
std::optional<std::string> read_up_to(int file, std::size_t most, bool whole) {
  std::string text;
  char block[16 * 1024];
  while (text.size() < most) {
    const ssize_t got = ::read(file, block, std::min(sizeof block, most - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && text.empty()) return std::nullopt;
    if (got <= 0) break;
    text.append(block, static_cast<std::size_t>(got));
    if (whole && static_cast<std::size_t>(got) < sizeof block) break;
  }
  return text;
}

}  // namespace

std::optional<std::uint32_t> TreeFile::word32(unsigned offset) const {
  unsigned char bytes[4];
  if (::pread(file_.get(), bytes, sizeof bytes, static_cast<off_t>(offset)) != sizeof bytes) return std::nullopt;
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

Tree::Tree(std::string root, Observer observer)
    : root_(root.empty() ? "/" : std::move(root)),
      observer_(std::move(observer)),
      folder_(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
      shortage_(folder_ || !base::is_shortage(errno) ? 0 : errno) {}

Status Tree::status() const { return shortage_ == 0 ? Status() : base::shortage(shortage_).with_context(root_); }

base::FileDescriptor Tree::open(const std::string& path, int flags) const {
  if (!folder_) return {};
  base::FileDescriptor file = open_inside(folder_.get(), path.c_str(), flags, Leading::Inside);
  if (!file && base::is_shortage(errno)) shortage_ = errno;
  if (file && observer_)
    observer_(path, (flags & O_DIRECTORY) != 0 ? Asked::Names
                    : (flags & O_PATH) != 0    ? Asked::Existence
                                               : Asked::Content);
  return file;
}

std::optional<std::string> Tree::read(const std::string& path, std::size_t most, bool whole) const {
  // Opening a pipe does not wait for its writer then; nor is it read.
  const base::FileDescriptor file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file || !is_plain(file.get())) return std::nullopt;
  std::optional<std::string> text = read_up_to(file.get(), std::min(whole ? most + 1 : most, bytes_left_), whole);
  if (text) bytes_left_ -= text->size();
  if (!text && base::is_shortage(errno)) shortage_ = errno;
  if (whole && text && text->size() > most) return std::nullopt;
  return text;
}

std::optional<std::string> Tree::attribute(const std::string& path) const {
  const std::optional<std::string> text = read(path, kMaxAttributeBytes, true);
  if (!text) return std::nullopt;
  const std::string_view trimmed = trim(*text);
  if (trimmed.empty()) return std::nullopt;
  return std::string(trimmed);
}

std::optional<long long> Tree::integer(const std::string& path) const {
  const std::optional<std::string> text = attribute(path);
  if (!text) return std::nullopt;
  return parse_whole<long long>(*text);
}

std::optional<std::string> Tree::text(const std::string& path) const { return read(path, kMaxTextBytes, false); }

std::optional<TreeFile> Tree::file(const std::string& path) const {
  base::FileDescriptor file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file || !is_plain(file.get())) return std::nullopt;
  return TreeFile(std::move(file));
}

std::optional<std::vector<std::string>> Tree::list(const std::string& path) const {
  base::FileDescriptor file = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
  if (!file) return std::nullopt;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(file.get()), ::closedir);
  if (!folder) {
    if (base::is_shortage(errno)) shortage_ = errno;
    return std::nullopt;
  }
  file.release();
  std::vector<std::string> names;
  while (names.size() < kMaxFolderNames) {
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) break;
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool Tree::exists(const std::string& path) const { return static_cast<bool>(open(path, O_PATH)); }

std::optional<std::string> Tree::link(const std::string& path) const {
  const base::FileDescriptor file = open(path, O_PATH | O_NOFOLLOW);
  char target[PATH_MAX];
  const ssize_t bytes = file ? ::readlinkat(file.get(), "", target, sizeof target) : -1;
  if (bytes <= 0) return std::nullopt;
  return std::string(target, static_cast<std::size_t>(bytes));
}

std::optional<std::string> Tree::link_name(const std::string& path) const {
  const std::optional<std::string> target = link(path);
  if (!target) return std::nullopt;
  const std::string name = target->substr(target->find_last_of('/') + 1);
  if (name.empty()) return std::nullopt;
  return name;
}

}  // namespace weft::topology
