// Limits are named as the shell names them, since there they are raised.
#include "base/shortage.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include "base/file_descriptor.hpp"
#include "base/output.hpp"

namespace weft::base {
namespace {

std::optional<rlim_t> limit_of(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return limit.rlim_cur;
}

std::string words_of_memory() {
  for (const auto& [resource, option] : {std::pair{RLIMIT_AS, "-v"}, std::pair{RLIMIT_DATA, "-d"}})
    if (const std::optional<rlim_t> bytes = limit_of(resource))
      return fmt::format("out of memory: this process may have {} KiB (ulimit {}); raise that limit", *bytes >> 10,
                         option);
  return "out of memory: this machine has no more for this process; free some of it";
}

// The last words are written down while there is memory.
struct LastWords {
  std::array<char, 320> text;
  std::size_t bytes = 0;
  int exit_status = 0;
  std::terminate_handler before = nullptr;
};
LastWords& last_words() {
  static LastWords words{};
  return words;
}

[[noreturn]] void end() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      ::_exit(tell_without_memory());
    } catch (...) {  // a mistake of ours
    }
  }
  if (last_words().before != nullptr) last_words().before();
  std::abort();
}

}  // namespace

bool is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

Status shortage(int error) {
  if (error == ENOMEM) return Status(Code::ResourceExhausted, words_of_memory());
  if (error == ENFILE)
    return Status(Code::ResourceExhausted,
                  "cannot open more files: this machine's limit is reached (/proc/sys/fs/file-max); raise it");
  return Status(Code::ResourceExhausted,
                fmt::format("cannot open more files: this process may have {} open (ulimit -n); raise that limit",
                            limit_of(RLIMIT_NOFILE).value_or(0)));
}

Status check_spare() {
  std::array<FileDescriptor, kSpareFiles> files;
  for (FileDescriptor& file : files) {
    file.reset(::open("/", O_PATH | O_CLOEXEC));
    if (!file && is_shortage(errno)) return shortage(errno);
  }
  void* const bytes = ::mmap(nullptr, kSpareBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED) return shortage(ENOMEM);
  ::munmap(bytes, kSpareBytes);
  return {};
}

void end_well_without_memory(std::string_view program, int exit_status) {
  LastWords& words = last_words();
  const std::string line = fmt::format("{}: {}\n", program, words_of_memory());
  words.bytes = std::min(line.size(), words.text.size());
  std::copy_n(line.begin(), words.bytes, words.text.begin());
  words.exit_status = exit_status;
  if (std::get_terminate() != &end) words.before = std::set_terminate(&end);
}

int tell_without_memory() {
  const LastWords& words = last_words();
  write_stderr(std::string_view(words.text.data(), words.bytes));
  return words.exit_status;
}

}  // namespace weft::base
