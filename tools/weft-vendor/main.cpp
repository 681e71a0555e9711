// weft-vendor: asks one vendor's library and writes its answer as one JSON object on standard output, or measures with
// it and writes a line for each result.
//
//   weft-vendor nvml|verbs LIBRARY
//   weft-vendor cuda|hip LIBRARY MILLISECONDS          copies that standard input names
//   weft-vendor rdma LIBRARY DEVICE PORT GID CPU       one end of a stream between hosts
//
// A process of its own, because such libraries block (a driver that waits for a GPU that is gone), crash, and leave
// threads behind. libweft starts it, waits for a time, and kills it otherwise. It does not link libweft: it has to
// start fast.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers.hpp"

namespace weft::vendor {
namespace {

constexpr int kUsage = 2;
constexpr rlim_t kAskingCpuSeconds = 10;
constexpr rlim_t kMeasuringCpuSeconds = 1800;  // of many threads that spin

using Words = std::vector<std::string>;

// Ends with the process that asked; leaves no core file; does not compute for ever.
void restrict_this_process(rlim_t cpu_seconds) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const rlimit cpu{cpu_seconds, cpu_seconds};
  ::setrlimit(RLIMIT_CPU, &cpu);
}

// Standard output is for the answer alone: what libraries print goes nowhere.
int take_stdout() {
  const int answer = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) {
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
  }
  return answer;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool ask(const Words& words, int answer) {
  base::JsonWriter json;
  json.begin_object();
  json.member("library", words[0]);
  if (words[0] == "nvml")
    ask_nvml(words[1], json);
  else
    ask_verbs(words[1], json);
  json.end_object();
  return write_all(answer, std::move(json).text());
}

bool is_question(const Words& words) { return words.size() == 2 && (words[0] == "nvml" || words[0] == "verbs"); }
bool is_copying(const Words& words) { return words.size() == 3 && (words[0] == "cuda" || words[0] == "hip"); }
bool is_rdma(const Words& words) { return words.size() == 6 && words[0] == "rdma"; }

int run(const Words& words) {
  const bool question = is_question(words);
  if (!question && !is_copying(words) && !is_rdma(words)) {
    write_all(STDERR_FILENO,
              "usage: weft-vendor nvml|verbs LIBRARY\n"
              "       weft-vendor cuda|hip LIBRARY MILLISECONDS\n"
              "       weft-vendor rdma LIBRARY DEVICE PORT GID CPU\n");
    return kUsage;
  }
  restrict_this_process(question ? kAskingCpuSeconds : kMeasuringCpuSeconds);
  const int answer = take_stdout();
  bool fine = true;
  const WriteLine write = [&](std::string_view line) { return fine = write_all(answer, line); };
  const auto number = [&](std::size_t word) { return std::atoi(words[word].c_str()); };
  if (question)
    fine = ask(words, answer);
  else if (is_copying(words))
    copy_with_gpus(words[0], words[1], number(2), write);
  else
    write_by_rdma(words[1], {words[2], number(3), number(4), number(5)}, write);
  // Without the library's own clean-up, which may block as well.
  ::_exit(fine ? 0 : 1);
}

}  // namespace
}  // namespace weft::vendor

int main(int argc, char** argv) { return weft::vendor::run(weft::vendor::Words(argv + 1, argv + std::max(argc, 1))); }
