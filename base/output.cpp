// Whole writes by file descriptor: no buffer that could fail later, unseen.
#include "base/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/file_descriptor.hpp"

namespace weft::base {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;        // as the kernel follows
constexpr int kMaxTemporaries = 64;  // that processes of this number left behind

Status cannot_write(std::string_view what, int error) {
  return Status(Code::SystemError, fmt::format("cannot write {}: {}", what, std::strerror(error)));
}

std::string quoted(const std::string& path) { return fmt::format("\"{}\"", path); }

// 0, or the error.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
}

std::string_view kind_of(fs::file_type type) {
  switch (type) {
    case fs::file_type::directory:
      return "a folder";
    case fs::file_type::block:
    case fs::file_type::character:
      return "a device";
    case fs::file_type::fifo:
      return "a pipe";
    default:
      return "no regular file";
  }
}

// What is written in the end: a link's target. Or why nothing is.
Result<std::string> target_of(const std::string& path) {
  std::error_code error;
  const fs::file_status state = fs::status(path, error);
  if (error && state.type() == fs::file_type::none) return cannot_write(quoted(path), error.value());
  if (path.empty() || (fs::exists(state) && !fs::is_regular_file(state)))
    return Status(Code::InvalidArgument,
                  fmt::format("cannot write \"{}\": it is {}; give the name of a file", path, kind_of(state.type())));
  fs::path target = path;
  for (int hops = 0; fs::is_symlink(fs::symlink_status(target, error)); ++hops) {
    if (hops == kMaxLinks) return cannot_write(quoted(path), ELOOP);
    target = target.parent_path() / fs::read_symlink(target, error);
  }
  return target.string();
}

// A file of our own beside the one that it will replace. Its name does not hold the other's, which may be as long as
// names can be. Nothing, and errno, if there can be none.
struct Temporary {
  std::string path;
  FileDescriptor file;
};
Temporary open_beside(const fs::path& target) {
  Temporary temporary;
  for (int number = 0; number < kMaxTemporaries; ++number) {
    temporary.path = (target.parent_path() / fmt::format(".weft-{}-{}.tmp", ::getpid(), number)).string();
    temporary.file = FileDescriptor(::open(temporary.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (temporary.file || errno != EEXIST) break;
  }
  return temporary;
}

// A file that is replaced keeps who may read and write it, and whose it is where this process may say so. 0, or the
// error.
int keep_mode(int fd, const std::string& target) {
  struct stat old {};
  if (::stat(target.c_str(), &old) != 0) return 0;
  static_cast<void>(::fchown(fd, old.st_uid, old.st_gid) == 0);
  return ::fchmod(fd, old.st_mode & 0777) == 0 ? 0 : errno;
}

}  // namespace

Status write_stdout(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  return error == 0 ? Status() : cannot_write("to standard output", error);
}

Status check_writable(const std::string& path) {
  WEFT_TRY_ASSIGN(const std::string target, target_of(path));
  const fs::path folder = fs::path(target).parent_path();
  return ::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0 ? Status() : cannot_write(quoted(path), errno);
}

Status write_file(const std::string& path, std::string_view text) {
  WEFT_TRY_ASSIGN(const std::string target, target_of(path));
  const Temporary beside = open_beside(target);
  if (!beside.file) return cannot_write(quoted(path), errno);
  int error = keep_mode(beside.file.get(), target);
  if (error == 0) error = write_all(beside.file.get(), text);
  if (error == 0 && ::fsync(beside.file.get()) != 0) error = errno;
  if (error == 0 && ::rename(beside.path.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(beside.path.c_str());
  return cannot_write(quoted(path), error);
}

void write_stderr(std::string_view text) { write_all(STDERR_FILENO, text); }

void complain(std::string_view program, std::string_view message) {
  std::string line = fmt::format("{}: {}", program, message);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  for (char& c : line)
    if (c == '\n' || c == '\r') c = ' ';
  write_stderr(line + "\n");
}

}  // namespace weft::base
