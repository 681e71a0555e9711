// weft-schedule verify: proves schedules for many numbers of ranks, roots and channels, or one from a file.
#include "algorithms/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "algorithms/export.hpp"
#include "algorithms/loaded_schedules.hpp"
#include "base/control_thread.hpp"
#include "tools/weft-schedule/commands.hpp"
#include "tools/weft-schedule/verify_cases.hpp"

namespace weft::schedule_tool {
namespace {

constexpr int kMaxJobs = 64;
constexpr std::size_t kFailuresShown = 20;

struct Tally {
  std::atomic<std::size_t> next = 0;
  std::atomic<int> proved = 0;
  std::atomic<int> unsupported = 0;
  std::mutex mutex;
  std::vector<std::pair<std::size_t, std::string>> failures;  // by number of the case
};

void prove(const std::vector<Case>& cases, Tally& tally) {
  for (std::size_t i = tally.next++; i < cases.size(); i = tally.next++) {
    const Case& one = cases[i];
    const Group group = one.group();
    const Request request = {.collective = one.algorithm->collective, .root = one.root, .count = 1024};
    if (!one.algorithm->unsupported(group, request).empty()) {
      ++tally.unsupported;
      continue;
    }
    BuildOptions options;
    options.root = one.root;
    options.replicas = one.replicas;
    options.in_place = one.in_place;
    const Status status = algorithms::verify(build_schedule(*one.algorithm, group, options));
    if (status.ok()) {
      ++tally.proved;
      continue;
    }
    const std::lock_guard lock(tally.mutex);
    tally.failures.emplace_back(i, fmt::format("{}: {}", one.to_string(), status.message()));
  }
}

// On this thread and `jobs` - 1 others. Where the system gives fewer, those that are there do all of it.
void prove_all(const std::vector<Case>& cases, int jobs, Tally& tally) {
  std::vector<std::thread> helpers;
  for (int job = 1; job < jobs; ++job) {
    auto helper = base::start_control_thread("weft-prove", [&] { prove(cases, tally); });
    if (!helper) break;
    helpers.push_back(std::move(helper).value());
  }
  prove(cases, tally);
  for (std::thread& helper : helpers) helper.join();
}

std::string failures_text(const std::vector<std::pair<std::size_t, std::string>>& failures) {
  std::string text;
  for (std::size_t i = 0; i < std::min(failures.size(), kFailuresShown); ++i)
    text += fmt::format("FAILED {}\n", failures[i].second);
  if (failures.size() > kFailuresShown) text += fmt::format("and {} more failed\n", failures.size() - kFailuresShown);
  return text;
}

Result<int> prove_cases(const VerifyArguments& arguments) {
  if (arguments.jobs < 1 || arguments.jobs > kMaxJobs)
    return Status(Code::InvalidArgument, fmt::format("--jobs {} is not from 1 to {}", arguments.jobs, kMaxJobs));
  WEFT_TRY_ASSIGN(const std::vector<Case> cases, list_cases(arguments.cases));
  const auto start = std::chrono::steady_clock::now();
  Tally tally;
  prove_all(cases, arguments.jobs, tally);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (tally.proved == 0 && tally.failures.empty())
    return Status(Code::InvalidArgument, "nothing to prove: no algorithm serves these ranks, roots and channels");
  std::sort(tally.failures.begin(), tally.failures.end());
  WEFT_TRY(
      write_output(failures_text(tally.failures) +
                   fmt::format("{} schedules proved, {} failed, {} not supported, in {:.1f} s\n", tally.proved.load(),
                               tally.failures.size(), tally.unsupported.load(), taken.count())));
  return tally.failures.empty() ? kFine : kProofFailed;
}

Result<int> prove_file(const std::string& path) {
  WEFT_TRY_ASSIGN(const std::string text, read_file(path));
  WEFT_TRY_ASSIGN(const Schedule schedule, algorithms::schedule_from_json(text));
  const Status status = algorithms::verify(schedule);
  const std::string name =
      fmt::format("{}/{} on {} ranks", to_string(schedule.collective), schedule.algorithm, schedule.size);
  if (!status.ok()) {
    WEFT_TRY(write_output(fmt::format("FAILED {}: {}\n", name, status.message())));
    return kProofFailed;
  }
  // Right, but perhaps not what a communicator takes: then it says why.
  const Result<algorithms::LoadedSchedule> loaded = algorithms::load_schedule({path, text});
  WEFT_TRY(write_output(fmt::format("{}: proved\n", name) +
                        (loaded ? fmt::format("as a candidate: {}\n", loaded->to_string())
                                : fmt::format("no candidate: {}\n", loaded.error().message()))));
  return loaded ? kFine : kProofFailed;
}

bool names_file(const std::optional<std::string>& algorithm) { return algorithm && algorithm->ends_with(".json"); }

}  // namespace

Result<int> verify(const VerifyArguments& arguments) {
  const int given = (arguments.cases.algorithm ? 1 : 0) + (arguments.all ? 1 : 0) + (arguments.from ? 1 : 0);
  if (given != 1) return Status(Code::InvalidArgument, "verify needs one of ALGO, FILE.json, --all and --from FILE");
  if (names_file(arguments.cases.algorithm)) return prove_file(*arguments.cases.algorithm);
  return arguments.from ? prove_file(*arguments.from) : prove_cases(arguments);
}

}  // namespace weft::schedule_tool
