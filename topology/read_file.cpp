// Small reads of whole files.
#include "topology/read_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "base/deadline.hpp"
#include "base/file_descriptor.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxAttribute = 64 * 1024;

Status failed(const std::string& path, int error) {
  const Code code = error == ENOENT || error == ENOTDIR ? Code::NotFound : Code::SystemError;
  return Status(code, fmt::format("cannot read {}: {}", path, std::strerror(error)));
}

// Pipes are read; devices may never end.
std::string_view unreadable_kind(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "";
}

Status wait_for_pipe(int fd, const std::string& path, int timeout_ms) {
  const auto deadline = base::Deadline::after_ms(timeout_ms);
  pollfd pipe{fd, POLLIN, 0};
  while (::poll(&pipe, 1, deadline.remaining_ms()) <= 0) {
    if (deadline.passed())
      return Status(Code::Timeout,
                    fmt::format("cannot read {}: nothing came from this pipe for {} ms", path, timeout_ms));
  }
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most, int pipe_timeout_ms) {
  // Opening a pipe does not wait for its writer then; for a file it makes no difference.
  const base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return failed(path, errno);
  struct stat about;
  if (::fstat(file.get(), &about) != 0) return failed(path, errno);
  if (const std::string_view kind = unreadable_kind(about.st_mode); !kind.empty())
    return Status(Code::InvalidArgument, fmt::format("cannot read {}: it is {}; give the name of a file", path, kind));
  const auto too_long = [&] {
    return Status(Code::ResourceExhausted,
                  fmt::format("{} is longer than {} bytes, the most that is read", path, most));
  };
  if (S_ISREG(about.st_mode) && static_cast<std::uint64_t>(about.st_size) > most) return too_long();
  std::string text;
  char block[16 * 1024];
  for (;;) {
    if (S_ISFIFO(about.st_mode)) WEFT_TRY(wait_for_pipe(file.get(), path, pipe_timeout_ms));
    const ssize_t got = ::read(file.get(), block, sizeof block);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return failed(path, errno);
    if (got == 0) return text;
    text.append(block, static_cast<std::size_t>(got));
    if (text.size() > most) return too_long();
  }
}

std::string read_head(const std::string& path, std::size_t most) {
  const base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about;
  if (!file || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  std::string head(most, '\0');
  const ssize_t got = ::read(file.get(), head.data(), head.size());
  head.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return head;
}

std::optional<std::string> read_attribute(const std::string& path) {
  Result<std::string> text = read_file(path, kMaxAttribute, 0);  // among attributes a pipe is not waited for
  if (!text) return std::nullopt;
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text->find_first_not_of(kBlank);
  if (first == std::string::npos) return std::nullopt;
  return text->substr(first, text->find_last_not_of(kBlank) - first + 1);
}

std::optional<long long> read_integer(const std::string& path) {
  const std::optional<std::string> text = read_attribute(path);
  if (!text) return std::nullopt;
  long long number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return number;
}

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (!folder) return names;
  while (const dirent* entry = ::readdir(folder.get()))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace weft::topology
