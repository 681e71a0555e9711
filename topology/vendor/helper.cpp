// Starting, reading, waiting, killing: only ever the one process that was started here.
#include "topology/vendor/helper.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
  SpawnSettings(int input, int output) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawn_file_actions_adddup2(&files_, input, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&files_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGXFSZ);
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

Result<Helper> Helper::start(const std::string& program, const std::vector<std::string>& arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("make a pipe", errno);
  base::FileDescriptor answer(ends[0]);
  const base::FileDescriptor output(ends[1]);
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return failed("make a socket", errno);
  base::FileDescriptor input(ends[0]);
  const base::FileDescriptor standard_input(ends[1]);
  const SpawnSettings settings(standard_input.get(), output.get());
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), program);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t process = -1;
  const int error =
      ::posix_spawn(&process, program.c_str(), settings.files(), settings.attributes(), pointers.data(), environ);
  if (error != 0) return failed("start " + program, error);
  return Helper(process, std::move(answer), std::move(input));
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

Result<bool> Helper::read_more(const base::Deadline& deadline) {
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
    read_.append(block, static_cast<std::size_t>(got));
    if (read_.size() > kMaxAnswerBytes) return Status(Code::ResourceExhausted, "its answer does not end");
    return got > 0;
  }
}

Status Helper::finish(const base::Deadline& deadline) {
  const std::optional<int> status = wait(deadline.at_most_ms(kKillMs));
  if (status) return how_it_ended(*status);
  kill();  // it said all and does not end
  return {};
}

Result<std::string> Helper::answer(const base::Deadline& deadline) {
  hang_up();
  for (;;) {
    const Result<bool> more = read_more(deadline);
    if (!more) kill();
    if (!more) return more.error();
    if (!*more) break;
  }
  WEFT_TRY(finish(deadline));
  return std::move(read_);
}

Result<std::optional<std::string>> Helper::next_line(const base::Deadline& deadline) {
  for (;;) {
    if (const std::size_t end = read_.find('\n'); end != std::string::npos) {
      std::optional<std::string> line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    const Result<bool> more = read_more(deadline);
    if (!more) kill();
    if (!more) return more.error();
    if (*more) continue;
    WEFT_TRY(finish(deadline));
    return std::optional<std::string>();
  }
}

// A socket, because writing to a pipe that nobody reads would be a signal. It has room for all that is ever told at
// once.
Status Helper::say(const std::string& line) {
  const std::string text = line + "\n";
  const ssize_t sent = ::send(input_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent == static_cast<ssize_t>(text.size())) return {};
  return Status(Code::PeerLost,
                fmt::format("it does not listen: {}", sent < 0 ? std::strerror(errno) : "it reads too slowly"));
}

}  // namespace weft::topology
