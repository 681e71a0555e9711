// fork and exec for each rank, and a parent that waits for signals instead of being interrupted by them.
#include "bench/weft-bench/launcher.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/output.hpp"
#include "bench/weft-bench/exit.hpp"
#include "bench/weft-bench/machine.hpp"

namespace weft::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kPlacementVariable = "WEFTBENCH_PLACEMENT";
constexpr auto kGrace = std::chrono::seconds(10);     // for the others to find out themselves that a rank failed
constexpr auto kKillDelay = std::chrono::seconds(2);  // from SIGTERM to SIGKILL

Status system_error(std::string_view what) {
  return Status(Code::SystemError, fmt::format("{}: {}", what, std::strerror(errno)));
}

// A loopback port that is free now. Another process may take it before rank 0 does; then rank 0 says so.
Result<int> free_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return system_error("cannot open a socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  const bool bound = bind(descriptor, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
                     getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  const auto status = bound ? Status() : system_error("no free port on 127.0.0.1");
  close(descriptor);
  if (!status.ok()) return status;
  return static_cast<int>(ntohs(address.sin_port));
}

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  // Refused: unpinned is only slower, and the table's header shows where ranks may run.
  sched_setaffinity(0, sizeof(set), &set);
}

// The signals the parent waits for instead of being interrupted by them.
sigset_t awaited_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

struct Child {
  pid_t pid = -1;
  bool running = true;
};

// Owns the children: on destruction those that still run are killed and reaped.
class Children {
 public:
  ~Children() {
    signal_all(SIGKILL);
    for (auto& child : children_) {
      if (child.running) waitpid(child.pid, nullptr, 0);
    }
  }

  void add(pid_t pid) { children_.push_back({pid}); }
  bool any_running() const {
    for (const auto& child : children_) {
      if (child.running) return true;
    }
    return false;
  }
  void signal_all(int signal) const {
    for (const auto& child : children_) {
      if (child.running) kill(child.pid, signal);
    }
  }

  // Reaps those that ended; calls `ended(rank, wait status)` for each.
  template <typename Ended>
  void reap(Ended ended) {
    for (std::size_t rank = 0; rank < children_.size(); ++rank) {
      int status = 0;
      if (!children_[rank].running || waitpid(children_[rank].pid, &status, WNOHANG) != children_[rank].pid) continue;
      children_[rank].running = false;
      ended(static_cast<int>(rank), status);
    }
  }

 private:
  std::vector<Child> children_;
};

// What all ranks of a run have in common.
struct Job {
  int ranks = 1;
  int port = 0;
  pid_t parent = -1;
  std::vector<int> hosts;  // by rank, the number of its emulated host; empty: none is emulated
  std::vector<int> cores;  // by rank; empty: not pinned
  std::string placement;   // in words
  sigset_t mask = {};      // of signals, before the parent blocked some
};

// In the child, up to exec.
[[noreturn]] void become_rank(int rank, const Job& job, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != job.parent) _exit(1);  // the parent was gone before prctl
  sigprocmask(SIG_SETMASK, &job.mask, nullptr);
  if (!job.cores.empty()) pin_to(job.cores[static_cast<std::size_t>(rank)]);
  setenv("WEFT_RANK", std::to_string(rank).c_str(), 1);
  setenv("WEFT_SIZE", std::to_string(job.ranks).c_str(), 1);
  setenv("WEFT_RENDEZVOUS", fmt::format("127.0.0.1:{}", job.port).c_str(), 1);
  setenv("WEFT_JOB", fmt::format("weft-bench:{}", job.parent).c_str(), 1);
  if (!job.hosts.empty())
    setenv("WEFT_HOST_ID", fmt::format("emulated host {}", job.hosts[static_cast<std::size_t>(rank)]).c_str(), 1);
  setenv(kPlacementVariable, job.placement.c_str(), 1);
  execv("/proc/self/exe", argv);
  base::complain("weft-bench", fmt::format("cannot start rank {}: {}", rank, std::strerror(errno)));
  _exit(1);
}

// Waits for all children; see launch_local_ranks.
class Waiter {
 public:
  explicit Waiter(Children& children) : children_(children) {}

  int wait(const sigset_t& signals) {
    while (true) {
      children_.reap([this](int rank, int status) { ended(rank, status); });
      if (!children_.any_running()) return result_;
      escalate();
      const timespec tick{0, 100'000'000};
      const int signal = sigtimedwait(&signals, nullptr, &tick);
      if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) interrupted(signal);
    }
  }

 private:
  void ended(int rank, int status) {
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    // Bad input of one rank may end another first, which then failed for want of its peer.
    if (result_ == kFailed && code == kBadInput) result_ = kBadInput;
    // Others may have failed for want of it, and have been seen first.
    if (WIFSIGNALED(status) && !ending_) {
      base::complain("weft-bench", fmt::format("rank {} was ended by signal {} ({})", rank, WTERMSIG(status),
                                               strsignal(WTERMSIG(status))));
    }
    if (code == 0 || result_ != 0) return;
    result_ = code;
    end_at_ = Clock::now() + kGrace;
  }

  void interrupted(int signal) {
    if (result_ == 0) base::complain("weft-bench", fmt::format("{}: ending the ranks", strsignal(signal)));
    result_ = 128 + signal;
    end_at_ = Clock::now();
    ending_ = true;
  }

  // Past the grace SIGTERM, later SIGKILL.
  void escalate() {
    if (result_ == 0 || Clock::now() < end_at_) return;
    children_.signal_all(termed_ ? SIGKILL : SIGTERM);
    termed_ = ending_ = true;
    end_at_ = Clock::now() + kKillDelay;
  }

  Children& children_;
  int result_ = 0;
  bool termed_ = false;
  bool ending_ = false;  // signals are this program's own, or meant for all
  Clock::time_point end_at_ = Clock::time_point::max();
};

}  // namespace

Result<int> launch_local_ranks(const LaunchSettings& settings, char** argv) {
  Job job;
  job.ranks = settings.ranks;
  job.parent = getpid();
  job.cores = allowed_cores();
  WEFT_TRY_ASSIGN(job.port, free_port());
  const bool pinned = settings.pin && static_cast<int>(job.cores.size()) >= job.ranks;
  job.placement =
      pinned ? "pinned, one rank a core" : fmt::format("not pinned: {} ranks on {} cores", job.ranks, job.cores.size());
  if (!pinned) job.cores.clear();
  for (std::size_t host = 0; host < settings.hosts.size(); ++host)
    job.hosts.insert(job.hosts.end(), static_cast<std::size_t>(settings.hosts[host]), static_cast<int>(host));
  if (!job.hosts.empty())
    job.placement += fmt::format("; on {} emulated hosts: {}", settings.hosts.size(), fmt::join(settings.hosts, ", "));

  const auto signals = awaited_signals();
  sigprocmask(SIG_BLOCK, &signals, &job.mask);
  Children children;
  for (int rank = 0; rank < job.ranks; ++rank) {
    const pid_t pid = fork();
    if (pid < 0) return system_error(fmt::format("cannot start rank {}", rank));
    if (pid == 0) become_rank(rank, job, argv);
    children.add(pid);
  }
  const int result = Waiter(children).wait(signals);
  sigprocmask(SIG_SETMASK, &job.mask, nullptr);
  return result;
}

std::string local_placement() {
  const char* placement = std::getenv(kPlacementVariable);
  return placement == nullptr ? "" : placement;
}

}  // namespace weft::bench
