// fork, exec and pidfds; output goes to memory, so that nobody waits for a reader.
#include "tests/support/process.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace weft::test {
namespace {

using Clock = std::chrono::steady_clock;

// What would make a program believe that a launcher started it.
bool belongs_to_a_launcher(std::string_view variable) {
  constexpr std::array<std::string_view, 9> kPrefixes = {"WEFT_R", "WEFT_S", "WEFT_J",    "WEFTBENCH_",   "OMPI_",
                                                         "PMI",    "SLURM_", "MPI_LOCAL", "TORCHELASTIC_"};
  constexpr std::array<std::string_view, 6> kNames = {
      "RANK=", "WORLD_SIZE=", "LOCAL_RANK=", "LOCAL_WORLD_SIZE=", "MASTER_ADDR=", "MASTER_PORT="};
  const auto starts = [&](std::string_view start) { return variable.starts_with(start); };
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), starts) || std::any_of(kNames.begin(), kNames.end(), starts);
}

std::vector<std::string> environment_with(const Environment& added) {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const auto name = std::string(text.substr(0, text.find('=')));
    if (!belongs_to_a_launcher(text) && !added.contains(name)) result.emplace_back(text);
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (auto& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(0, left));
}

}  // namespace

// Output goes to memory, so that a program never waits for a reader.
class Process::Log {
 public:
  Log() : descriptor_(memfd_create("output", MFD_CLOEXEC)) {}
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log() { close(descriptor_); }

  int descriptor() const { return descriptor_; }
  std::string read() const {
    std::string text;
    std::array<char, 65536> block;
    for (off_t offset = 0;;) {
      const auto got = pread(descriptor_, block.data(), block.size(), offset);
      if (got <= 0) return text;
      text.append(block.data(), static_cast<std::size_t>(got));
      offset += got;
    }
  }

 private:
  int descriptor_;
};

Process::Process(pid_t pid, std::unique_ptr<Log> log) : pid_(pid), log_(std::move(log)), started_(Clock::now()) {}

Process Process::start(const std::vector<std::string>& command, const Environment& environment) {
  auto words = command;
  auto variables = environment_with(environment);
  const auto argv = pointers(words);
  const auto envp = pointers(variables);
  auto log = std::make_unique<Log>();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("fork failed");
  if (pid == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    dup2(log->descriptor(), STDOUT_FILENO);
    dup2(log->descriptor(), STDERR_FILENO);
    execvpe(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  setpgid(pid, pid);  // here as well: whoever comes first
  return Process(pid, std::move(log));
}

Process::Process(Process&& other) noexcept = default;

Process::~Process() {
  if (!log_) return;  // moved from
  kill(-pid_, SIGKILL);
  if (!reaped_) waitpid(pid_, nullptr, 0);
}

void Process::signal(int number) const { kill(pid_, number); }

Outcome Process::wait(std::chrono::milliseconds deadline) {
  Outcome outcome;
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  pollfd ended{descriptor, POLLIN, 0};
  outcome.in_time = poll(&ended, 1, static_cast<int>(deadline.count())) > 0;
  close(descriptor);
  outcome.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  outcome.output = output();
  if (!outcome.in_time) return outcome;
  int status = 0;
  waitpid(pid_, &status, 0);
  reaped_ = true;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return outcome;
}

bool Process::wait_for_output(const std::string& text, std::chrono::milliseconds deadline) const {
  const auto until = Clock::now() + deadline;
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  pollfd ended{descriptor, POLLIN, 0};
  bool found = false;
  bool running = true;
  while (running && Clock::now() < until) {
    running = poll(&ended, 1, std::min(10, milliseconds_until(until))) == 0;
    found = output().find(text) != std::string::npos;
    if (found) break;
  }
  close(descriptor);
  return found;
}

std::string Process::output() const { return log_->read(); }

Outcome run(const std::vector<std::string>& command, const Environment& environment,
            std::chrono::milliseconds deadline) {
  return Process::start(command, environment).wait(deadline);
}

std::string program(const std::string& name) {
  const char* folder = std::getenv("WEFT_TEST_BIN");
  if (folder != nullptr) return std::string(folder) + "/" + name;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

int free_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  const bool found = bind(descriptor, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
                     getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  close(descriptor);
  if (!found) throw std::runtime_error("no free loopback port");
  return ntohs(address.sin_port);
}

}  // namespace weft::test
