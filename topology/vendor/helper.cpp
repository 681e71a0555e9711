// Starting, reading, waiting, killing: only ever the one process that was started here.
#include "topology/vendor/helper.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace weft::topology {
namespace {

constexpr int kKillMs = 200;  // how long a killed process may take to go
constexpr int kLeastNapMs = 1;
constexpr int kMostNapMs = 16;

Status failed(std::string_view what, int error) {
  return Status(Code::SystemError, fmt::format("cannot {}: {}", what, std::strerror(error)));
}

// Which standard files the process gets, and that it starts without our blocked and ignored signals.
class SpawnSettings {
 public:
  explicit SpawnSettings(int output) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&files_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    sigaddset(&signals, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

Status how_it_ended(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFSIGNALED(status))
    return Status(Code::SystemError,
                  fmt::format("it crashed with signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status))));
  return Status(Code::SystemError, fmt::format("it ended with status {}", WEXITSTATUS(status)));
}

}  // namespace

std::string find_helper() {
  Dl_info about{};
  if (::dladdr(reinterpret_cast<const void*>(&find_helper), &about) == 0 || about.dli_fname == nullptr) return {};
  const std::string library = about.dli_fname;
  const std::string folder = library.substr(0, library.find_last_of('/') + 1);
  for (const char* from_library : {WEFT_LIB_TO_HELPERS, "../libexec/weft"}) {
    std::string program = folder + from_library + "/weft-vendor";
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

Result<Helper> Helper::start(const std::string& program, const std::string& library, const std::string& path) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("make a pipe", errno);
  base::FileDescriptor answer(ends[0]);
  const base::FileDescriptor output(ends[1]);
  const SpawnSettings settings(output.get());
  std::array<std::string, 3> words = {program, library, path};
  std::array<char*, 4> arguments = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t process = -1;
  const int error =
      ::posix_spawn(&process, program.c_str(), settings.files(), settings.attributes(), arguments.data(), environ);
  if (error != 0) return failed("start " + program, error);
  return Helper(process, std::move(answer));
}

Helper::~Helper() { kill(); }

void Helper::kill() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  static_cast<void>(wait(base::Deadline::after_ms(kKillMs)));
  process_ = -1;
}

std::optional<int> Helper::wait(const base::Deadline& deadline) {
  int nap_ms = kLeastNapMs;
  for (;;) {
    int status = 0;
    const pid_t got = ::waitpid(process_, &status, WNOHANG);
    if (got == process_ || (got < 0 && errno != EINTR)) {
      process_ = -1;
      return got < 0 ? 0 : status;  // a program that ignores its children does not learn how they end
    }
    if (deadline.passed()) return std::nullopt;
    ::poll(nullptr, 0, std::min(nap_ms, deadline.remaining_ms()));
    nap_ms = std::min(2 * nap_ms, kMostNapMs);
  }
}

Result<std::string> Helper::read_all(const base::Deadline& deadline) {
  std::string text;
  char block[16 * 1024];
  for (;;) {
    pollfd pipe{answer_.get(), POLLIN, 0};
    const int ready = ::poll(&pipe, 1, deadline.remaining_ms());
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return failed("wait for its answer", errno);
    if (ready == 0 && deadline.passed()) return Status(Code::Timeout, "it did not answer in time");
    const ssize_t got = ready == 0 ? -1 : ::read(answer_.get(), block, sizeof block);
    if (got < 0 && (ready == 0 || errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return failed("read its answer", errno);
    if (got == 0) return text;
    text.append(block, static_cast<std::size_t>(got));
    if (text.size() > kMaxAnswerBytes) return Status(Code::ResourceExhausted, "its answer does not end");
  }
}

Result<std::string> Helper::answer(const base::Deadline& deadline) {
  Result<std::string> text = read_all(deadline);
  if (!text) {
    kill();
    return text;
  }
  const std::optional<int> status = wait(deadline.at_most_ms(kKillMs));
  if (!status) {
    kill();
    return text;  // it said all and does not end
  }
  WEFT_TRY(how_it_ended(*status));
  return text;
}

}  // namespace weft::topology
