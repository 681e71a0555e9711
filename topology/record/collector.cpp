// Walks to what a record holds.
#include "topology/record/collector.hpp"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <deque>
#include <optional>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/parse.hpp"
#include "base/shortage.hpp"
#include "topology/read_file.hpp"

namespace weft::topology {
namespace {

constexpr int kMaxLinks = 40;  // on the way to one file, as Linux has it
constexpr std::size_t kMaxDepth = 32;

// In a record this process is not a link to a number, but a folder.
bool is_own_process(const std::string& path) { return path == "proc/self"; }

std::optional<std::string> link_target(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t bytes = ::readlink(path.c_str(), target, sizeof target);
  if (bytes <= 0) return std::nullopt;
  return std::string(target, static_cast<std::size_t>(bytes));
}

std::optional<std::string> read_up_to(const std::string& path, std::size_t most) {
  errno = 0;
  const base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  struct stat about;
  if (!file || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  std::string text;
  char block[16 << 10];
  while (text.size() < most) {
    const ssize_t got = ::read(file.get(), block, std::min(sizeof block, most - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && text.empty()) return std::nullopt;
    if (got <= 0) break;
    text.append(block, static_cast<std::size_t>(got));
  }
  return text;
}

// A link as it reads inside the record: from its own folder, wherever the record lies.
std::string relative_target(const std::string& link, const std::string& target) {
  if (!target.starts_with('/')) return target;
  std::string relative;
  for (std::ptrdiff_t i = std::count(link.begin(), link.end(), '/'); i > 0; --i) relative += "../";
  return relative + target.substr(std::min(target.find_first_not_of('/'), target.size()));
}

void push_parts(std::deque<std::string>& parts, std::string_view path) {
  const std::vector<std::string_view> split = base::split(path, '/');
  parts.insert(parts.begin(), split.begin(), split.end());
}

}  // namespace

std::string Collector::resolve(const std::string& path) {
  std::deque<std::string> left;
  push_parts(left, path);
  std::string real;
  for (int links = 0; !left.empty();) {
    const std::string part = std::move(left.front());
    left.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      const std::size_t slash = real.rfind('/');
      real.erase(slash == std::string::npos ? 0 : slash);
      continue;
    }
    const std::string next = real.empty() ? part : real + "/" + part;
    const std::optional<std::string> target = is_own_process(next) ? std::nullopt : link_target(root_ + "/" + next);
    if (!target) {
      real = next;
      continue;
    }
    if (++links > kMaxLinks) return {};
    entries_.try_emplace(next, RecordEntry{RecordEntry::Kind::Link, relative_target(next, *target)});
    if (target->starts_with('/')) real.clear();
    push_parts(left, *target);
  }
  return real;
}

bool Collector::full() {
  overflowed_ |= entries_.size() >= kMaxRecordEntries || bytes_ >= kMaxRecordBytes;
  return overflowed_;
}

void Collector::add(const std::string& path, std::size_t most) {
  if (full()) return;
  const std::string real = resolve(path);
  struct stat about;
  if (real.empty() || ::stat((root_ + "/" + real).c_str(), &about) != 0) return;
  if (S_ISDIR(about.st_mode)) {
    entries_.try_emplace(real);
    return;
  }
  RecordEntry& entry = entries_[real];
  if (entry.kind == RecordEntry::Kind::File && entry.content.size() >= most) return;
  entry.kind = RecordEntry::Kind::File;
  if (most == 0) return;
  std::optional<std::string> content = read_up_to(root_ + "/" + real, most);
  if (!content) {
    if (base::is_shortage(errno)) shortage_ = errno;
    return;
  }
  bytes_ += content->size();
  entry.content = std::move(*content);
}

Status Collector::status() const {
  return shortage_ == 0 ? Status() : base::shortage(shortage_).with_context(root_.empty() ? "/" : root_);
}

std::vector<std::string> Collector::names_in(const std::string& real) {
  errno = 0;
  std::vector<std::string> names = list_folder(root_ + "/" + real);
  if (names.empty() && base::is_shortage(errno)) shortage_ = errno;
  return names;
}

void Collector::add_names(const std::string& folder) {
  const std::string real = resolve(folder);
  if (real.empty()) return;
  for (const std::string& name : names_in(real)) {
    if (full()) return;
    const std::string path = real + "/" + name;
    struct stat about;
    if (entries_.contains(path) || ::lstat((root_ + "/" + path).c_str(), &about) != 0) continue;
    if (S_ISLNK(about.st_mode))
      entries_[path] = {RecordEntry::Kind::Link, relative_target(path, link_target(root_ + "/" + path).value_or(""))};
    else
      entries_[path] = {S_ISDIR(about.st_mode) ? RecordEntry::Kind::Folder : RecordEntry::Kind::File, {}};
  }
}

void Collector::add_matching(const std::string& pattern, std::size_t most) { match("", pattern, most, 0); }

void Collector::match(const std::string& folder, std::string_view pattern, std::size_t most, std::size_t depth) {
  if (full() || depth > kMaxDepth) return;
  const std::size_t end = std::min(pattern.find('/'), pattern.size());
  const std::string part(pattern.substr(0, end));
  const std::string_view rest = pattern.substr(std::min(end + 1, pattern.size()));
  const auto go_on = [&](const std::string& name) {
    const std::string path = folder.empty() ? name : folder + "/" + name;
    if (rest.empty())
      add(path, most);
    else
      match(path, rest, most, depth + 1);
  };
  if (part.find('*') == std::string::npos) return go_on(part);
  const std::string real = resolve(folder);
  for (const std::string& name : names_in(real))
    if (::fnmatch(part.c_str(), name.c_str(), 0) == 0) go_on(name);
}

void Collector::put(const std::string& path, std::string content) {
  entries_[path] = {RecordEntry::Kind::File, std::move(content)};
}

}  // namespace weft::topology
