// weft-vendor: asks one vendor's library and writes its answer as one JSON object on standard output.
//
//   weft-vendor nvml|verbs LIBRARY
//
// A process of its own, because such libraries block (a driver that waits for a GPU that is gone), crash, and leave
// threads behind. libweft starts it, waits for a time, and kills it otherwise. It does not link libweft: it has to
// start fast.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>

#include "answers.hpp"

namespace weft::vendor {
namespace {

constexpr int kUsage = 2;
constexpr rlim_t kMostCpuSeconds = 10;

// Ends with the process that asked; leaves no core file; does not compute for ever.
void restrict_this_process() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const rlimit cpu{kMostCpuSeconds, kMostCpuSeconds};
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

int run(std::string_view library, const std::string& path) {
  restrict_this_process();
  const int answer = take_stdout();
  base::JsonWriter json;
  json.begin_object();
  json.member("library", library);
  if (library == "nvml")
    ask_nvml(path, json);
  else if (library == "verbs")
    ask_verbs(path, json);
  else
    return kUsage;
  json.end_object();
  // Without the library's own clean-up, which may block as well.
  ::_exit(write_all(answer, std::move(json).text()) ? 0 : 1);
}

}  // namespace
}  // namespace weft::vendor

int main(int argc, char** argv) {
  constexpr std::string_view kHelp = "usage: weft-vendor nvml|verbs LIBRARY\n";
  if (argc == 3) return weft::vendor::run(argv[1], argv[2]);
  weft::vendor::write_all(STDERR_FILENO, kHelp);
  return weft::vendor::kUsage;
}
