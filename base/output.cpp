// Whole writes by file descriptor: no buffer that could fail later, unseen.
#include "base/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/file_descriptor.hpp"

namespace weft::base {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // as the kernel follows

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
  if (path.empty() || (fs::exists(state) && !fs::is_regular_file(state)))
    return Status(Code::InvalidArgument,
                  fmt::format("cannot write \"{}\": it is {}; give the name of a file", path, kind_of(state.type())));
  fs::path target = path;
  for (int hops = 0; hops < kMaxLinks && fs::is_symlink(fs::symlink_status(target, error)); ++hops)
    target = target.parent_path() / fs::read_symlink(target, error);
  return target.string();
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
  const std::string beside = fmt::format("{}.{}.tmp", target, ::getpid());
  FileDescriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) return cannot_write(quoted(path), errno);
  int error = write_all(file.get(), text);
  if (error == 0 && ::fsync(file.get()) != 0) error = errno;
  if (error == 0 && ::rename(beside.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(beside.c_str());
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
