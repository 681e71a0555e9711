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
#include "base/shortage.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxAttribute = 64 * 1024;

Status failed(const std::string& path, int error) {
  if (base::is_shortage(error)) return base::shortage(error).with_context(path);
  const Code code = error == ENOENT || error == ENOTDIR ? Code::NotFound : Code::SystemError;
  return Status(code, fmt::format("cannot read {}: {}", path, std::strerror(error)));
}

// Pipes are read; devices may never end.
std::string_view unreadable_kind(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "";
}

// Looks before it opens: there are devices that opening sets off, and a writer who waits for a pipe to be opened must
// not be let go. Opening a pipe does not wait for its writer; for a file that makes no difference.
Result<base::FileDescriptor> open_source(const std::string& path, struct stat& about) {
  if (::stat(path.c_str(), &about) != 0) return failed(path, errno);
  if (const std::string_view kind = unreadable_kind(about.st_mode); !kind.empty())
    return Status(Code::InvalidArgument, fmt::format("cannot read {}: it is {}; give the name of a file", path, kind));
  base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file || ::fstat(file.get(), &about) != 0) return failed(path, errno);
  return file;
}

class PipeWait {
 public:
  PipeWait(const std::string& path, PipeTimeouts timeouts)
      : path_(path), timeouts_(timeouts), whole_(base::Deadline::after_ms(timeouts.whole_ms)) {}

  // Until there is something to read, or its writer is gone.
  Status wait(int file) const {
    const base::Deadline deadline = whole_.at_most_ms(timeouts_.silence_ms);
    pollfd pipe{file, POLLIN, 0};
    for (int ready = 0; ready <= 0;) {
      if (whole_.passed()) return gave_up(fmt::format("this pipe did not end within {} ms", timeouts_.whole_ms));
      if (deadline.passed()) return gave_up(fmt::format("nothing came from this pipe for {} ms", timeouts_.silence_ms));
      ready = ::poll(&pipe, 1, deadline.remaining_ms());
    }
    return {};
  }

 private:
  Status gave_up(std::string_view why) const {
    return Status(Code::Timeout, fmt::format("cannot read {}: {}; give a file", path_, why));
  }

  const std::string& path_;
  PipeTimeouts timeouts_;
  base::Deadline whole_;
};

}  // namespace

Result<std::string> read_file(const std::string& path, const MostBytes& most_of, PipeTimeouts timeouts) {
  struct stat about {};
  WEFT_TRY_ASSIGN(const base::FileDescriptor file, open_source(path, about));
  const PipeWait pipe(path, timeouts);
  const std::uint64_t announced = S_ISREG(about.st_mode) ? static_cast<std::uint64_t>(about.st_size) : 0;
  std::optional<std::size_t> most;
  std::string text;
  char block[16 * 1024];
  for (bool ended = false; !ended;) {
    if (S_ISFIFO(about.st_mode)) WEFT_TRY(pipe.wait(file.get()));
    const ssize_t got = ::read(file.get(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {  // the kernel has files that fill like pipes: /proc/kmsg
      WEFT_TRY(pipe.wait(file.get()));
      continue;
    }
    if (got < 0) return failed(path, errno);
    text.append(block, static_cast<std::size_t>(got));
    ended = got == 0;
    if (!most && (ended || text.size() >= kHeadBytes)) most = most_of(text);
    if (most && std::max<std::uint64_t>(text.size(), announced) > *most)
      return Status(Code::ResourceExhausted,
                    fmt::format("{} is longer than {} bytes, the most that is read", path, *most));
  }
  return text;
}

Result<std::string> read_file(const std::string& path, std::size_t most, PipeTimeouts timeouts) {
  return read_file(
      path, [most](std::string_view) { return most; }, timeouts);
}

std::string read_head(const std::string& path, std::size_t most) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  const base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string head(most, '\0');
  const ssize_t got = file ? ::read(file.get(), head.data(), head.size()) : -1;
  head.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return head;
}

std::optional<std::string> read_attribute(const std::string& path) {
  Result<std::string> text = read_file(path, kMaxAttribute, {0, 0});  // among attributes a pipe is not waited for
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
