// Where the report goes.
#include "output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace weft::topo_probe {
namespace {

Status failed(std::string_view what, int error) {
  return Status(Code::SystemError, fmt::format("cannot write {}: {}", what, std::strerror(error)));
}

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

}  // namespace

Status write_stdout(std::string_view text) {
  if (const int error = write_all(STDOUT_FILENO, text); error != 0) return failed("to standard output", error);
  return {};
}

Status write_file(const std::string& given, std::string_view text) {
  // A link stays a link: what it points to is replaced. What is no file (a device, a folder) never is.
  std::error_code unresolved;
  const std::filesystem::path target = std::filesystem::weakly_canonical(given, unresolved);
  const std::string path = unresolved ? given : target.string();
  const std::filesystem::file_status state = std::filesystem::status(path, unresolved);
  if (std::filesystem::exists(state) && !std::filesystem::is_regular_file(state)) {
    return Status(Code::InvalidArgument, fmt::format("--output {} is not a regular file; choose another name", given));
  }
  const std::string beside = fmt::format("{}.{}.tmp", path, ::getpid());
  const int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return failed(path, errno);
  int error = write_all(fd, text);
  if (error == 0 && ::fsync(fd) != 0) error = errno;
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(beside.c_str());
  return failed(path, error);
}

}  // namespace weft::topo_probe
