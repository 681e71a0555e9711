// Copies to, from and between GPUs, timed. Rounds come on standard input, a line each, with the copies that run at the
// same time: "cpu3>0000:10:00.0 0000:10:00.0>0000:11:00.0"; "cpu3" is memory near that CPU. Each is answered by a line
// {"round": 0, "copies": [{"gbs": 24.8}, {"error": "..."}]}, as soon as it is over, so that what was measured is not
// lost if a later one hangs. What there is no time for is not answered.
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstring>
#include <latch>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

#include "answers.hpp"
#include "gpu_runtime.hpp"

namespace weft::vendor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBytes = std::size_t{32} << 20;
constexpr int kBatch = 4;  // copies that are started before one waits
constexpr auto kRound = std::chrono::milliseconds(50);
constexpr int kMaxGpus = 64;
constexpr std::size_t kMaxPlanBytes = std::size_t{1} << 20;

enum class Kind { ToGpu, ToHost, Between };

struct Copy {
  Kind kind = Kind::Between;
  int from = -1;  // GPUs
  int to = -1;
  int cpu = -1;  // of the host's memory
  void* host = nullptr;
  std::uint64_t source = 0;
  std::uint64_t target = 0;
  void* stream = nullptr;
  double gbs = 0;
  std::string error;

  int gpu() const { return kind == Kind::ToGpu ? to : from; }  // that does it
};

void run_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
  ::sched_setaffinity(0, sizeof set, &set);  // if it may not run there, it runs where it is
}

// Keeps where this thread may run, while it touches memory elsewhere.
class KeptAffinity {
 public:
  KeptAffinity() { known_ = ::sched_getaffinity(0, sizeof set_, &set_) == 0; }
  KeptAffinity(const KeptAffinity&) = delete;
  KeptAffinity& operator=(const KeptAffinity&) = delete;
  ~KeptAffinity() {
    if (known_) ::sched_setaffinity(0, sizeof set_, &set_);
  }

 private:
  cpu_set_t set_{};
  bool known_ = false;
};

class GpuCopies {
 public:
  explicit GpuCopies(GpuRuntime& runtime) : runtime_(runtime) {}

  // What is wrong; empty if nothing is.
  std::string start() {
    if (!runtime_.complete()) return "it lacks functions that copies need";
    if (const int status = runtime_.start(); status != 0) return runtime_.why(status);
    int count = 0;
    if (const int status = runtime_.count(count); status != 0) return runtime_.why(status);
    for (int gpu = 0; gpu < std::min(count, kMaxGpus); ++gpu) {
      char text[32] = "";
      if (const int status = runtime_.bus_id(gpu, text, sizeof text); status != 0) return runtime_.why(status);
      std::string bus_id = text;
      std::transform(bus_id.begin(), bus_id.end(), bus_id.begin(), [](unsigned char c) { return std::tolower(c); });
      gpus_[bus_id] = gpu;
    }
    return {};
  }

  std::string run_round(int number, const std::string& line) {
    std::vector<Copy> copies;
    std::istringstream words(line);
    for (std::string word; words >> word;) copies.push_back(parse(word));
    for (Copy& copy : copies)
      if (copy.error.empty()) prepare(copy);
    time(copies);
    base::JsonWriter json;
    json.begin_object();
    json.member("round", number);
    json.begin_list("copies");
    for (const Copy& copy : copies) {
      json.begin_object();
      if (copy.error.empty())
        json.member("gbs", copy.gbs);
      else
        json.member("error", copy.error);
      json.end_object();
    }
    json.end_list();
    json.end_object();
    return std::move(json).text();
  }

 private:
  // An end is a GPU or a CPU.
  void parse_end(const std::string& end, int& gpu, Copy& copy) const {
    if (end.starts_with("cpu")) {
      copy.cpu = std::atoi(end.c_str() + 3);
    } else if (const auto found = gpus_.find(end); found != gpus_.end()) {
      gpu = found->second;
    } else {
      copy.error = "it sees no GPU at " + end;
    }
  }

  Copy parse(const std::string& word) const {
    Copy copy;
    const std::size_t arrow = std::min(word.find('>'), word.size());
    parse_end(word.substr(0, arrow), copy.from, copy);
    parse_end(word.substr(std::min(arrow + 1, word.size())), copy.to, copy);
    if (copy.cpu >= 0) copy.kind = copy.from < 0 ? Kind::ToGpu : Kind::ToHost;
    if (copy.from < 0 && copy.to < 0 && copy.error.empty()) copy.error = "it is no copy with a GPU: " + word;
    return copy;
  }

  // Memory at both ends and a stream. A GPU has one block that is read and one that is written.
  void prepare(Copy& copy) {
    if (copy.cpu >= 0) copy.host = host_memory(copy);
    if (copy.error.empty() && copy.from >= 0) copy.source = gpu_memory(copy.from, false, copy);
    if (copy.error.empty() && copy.to >= 0) copy.target = gpu_memory(copy.to, true, copy);
    if (!copy.error.empty() || !check(runtime_.use(copy.gpu()), copy)) return;
    if (copy.kind == Kind::Between && reached_.emplace(std::pair(copy.from, copy.to), true).second)
      runtime_.reach(copy.to);
    void*& stream = streams_[{copy.gpu(), copy.kind}];
    if (stream == nullptr && !check(runtime_.make_stream(stream), copy)) return;
    copy.stream = stream;
  }

  void* host_memory(Copy& copy) {
    void*& memory = host_[{copy.cpu, copy.gpu()}];
    if (memory != nullptr) return memory;
    void* fresh = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) {
      copy.error = std::string("no memory: ") + std::strerror(errno);
      return nullptr;
    }
    const KeptAffinity kept;
    run_on(copy.cpu);
    std::memset(fresh, 1, kBytes);  // whoever touches it first decides where it lies
    if (check(runtime_.use(copy.gpu()), copy) && check(runtime_.pin(fresh, kBytes), copy)) memory = fresh;
    return memory;
  }

  std::uint64_t gpu_memory(int gpu, bool written, Copy& copy) {
    std::uint64_t& memory = memory_[{gpu, written}];
    if (memory == 0 && check(runtime_.use(gpu), copy)) check(runtime_.allocate(kBytes, memory), copy);
    return memory;
  }

  bool check(int status, Copy& copy) const {
    if (status != 0) copy.error = runtime_.why(status);
    return status == 0;
  }

  // Each copy in a thread of its own; they start together.
  void time(std::vector<Copy>& copies) {
    std::latch ready(static_cast<std::ptrdiff_t>(copies.size()));
    std::vector<std::jthread> threads;
    for (Copy& copy : copies) {
      try {
        threads.emplace_back([&] { time_one(copy, ready); });
      } catch (const std::system_error&) {
        copy.error = "no thread for it";
        ready.count_down();
      }
    }
  }

  void time_one(Copy& copy, std::latch& ready) {
    if (copy.cpu >= 0) run_on(copy.cpu);
    const bool fine = copy.error.empty() && check(runtime_.use(copy.gpu()), copy) && check(copy_bytes(copy, 1), copy);
    ready.arrive_and_wait();
    if (!fine) return;
    const auto start = Clock::now();
    std::size_t bytes = 0;
    auto now = start;
    for (; now < start + kRound; now = Clock::now(), bytes += kBatch * kBytes)
      if (!check(copy_bytes(copy, kBatch), copy)) return;
    copy.gbs = static_cast<double>(bytes) / std::chrono::duration<double>(now - start).count() / 1e9;
  }

  int copy_bytes(const Copy& copy, int times) {
    for (int i = 0; i < times; ++i)
      if (const int status = start_copy(copy); status != 0) return status;
    return runtime_.wait(copy.stream);
  }

  int start_copy(const Copy& copy) {
    if (copy.kind == Kind::ToGpu) return runtime_.to_gpu(copy.target, copy.host, kBytes, copy.stream);
    if (copy.kind == Kind::ToHost) return runtime_.to_host(copy.host, copy.source, kBytes, copy.stream);
    return runtime_.between(copy.target, copy.to, copy.source, copy.from, kBytes, copy.stream);
  }

  GpuRuntime& runtime_;
  std::map<std::string, int> gpus_;                       // by bus id
  std::map<std::pair<int, int>, void*> host_;             // by CPU and GPU
  std::map<std::pair<int, bool>, std::uint64_t> memory_;  // by GPU, and whether it is written
  std::map<std::pair<int, Kind>, void*> streams_;         // by GPU
  std::map<std::pair<int, int>, bool> reached_;           // from one GPU to the other
};

// All of standard input.
std::vector<std::string> read_plan() {
  std::string text;
  char block[4096];
  ssize_t got = 0;
  while (text.size() < kMaxPlanBytes && (got = ::read(STDIN_FILENO, block, sizeof block)) > 0)
    text.append(block, static_cast<std::size_t>(got));
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

void copy_with_gpus(std::string_view kind, const std::string& path, int milliseconds, const WriteLine& write) {
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  const std::vector<std::string> plan = read_plan();
  const Library library(path);
  const std::unique_ptr<GpuRuntime> runtime = kind == "cuda" ? cuda_runtime(library) : hip_runtime(library);
  GpuCopies copies(*runtime);
  const std::string wrong = library ? copies.start() : library.error();
  base::JsonWriter json;
  json.begin_object();
  json.member("library", kind);
  if (!wrong.empty()) json.member("error", wrong);
  json.end_object();
  if (!write(std::move(json).text()) || !wrong.empty()) return;
  for (std::size_t i = 0; i < plan.size() && Clock::now() < end; ++i)
    if (!write(copies.run_round(static_cast<int>(i), plan[i]))) return;
}

}  // namespace weft::vendor
