// weft-bench: times Weft's collectives and checks every result, on ranks that it starts itself or that a launcher
// started.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "base/output.hpp"
#include "bench/weft-bench/arguments.hpp"
#include "bench/weft-bench/calibrate.hpp"
#include "bench/weft-bench/exit.hpp"
#include "bench/weft-bench/explain.hpp"
#include "bench/weft-bench/launcher.hpp"
#include "bench/weft-bench/machine.hpp"
#include "bench/weft-bench/messages.hpp"
#include "bench/weft-bench/preconditions.hpp"
#include "bench/weft-bench/runner.hpp"
#include "bench/weft-bench/same_arguments.hpp"
#include "bench/weft-bench/soak.hpp"
#include "bench/weft-bench/tune.hpp"
#include "weft/communicator.hpp"

namespace weft::bench {
namespace {

int refuse(int rank, std::string_view message) {
  // All ranks of -n see the same bad input and rank 0 says it. Other launchers end all ranks as soon as one ends, so
  // there each says it: rank 0 might not come to it.
  if (rank == 0 || local_placement().empty()) base::complain("weft-bench", message);
  return kBadInput;
}

int fail(int rank, std::string_view message) {
  base::complain("weft-bench", rank > 0 ? fmt::format("rank {}: {}", rank, message) : std::string(message));
  return kFailed;
}

int complain(int rank, const Status& status) {
  const bool bad_input = status.code() == Code::InvalidArgument || status.code() == Code::NotFound;
  return bad_input ? refuse(rank, status.message()) : fail(rank, status.message());
}

// A communicator that cannot be made of what was given: a file that does not parse, a transport that is not there.
int complain_of_creation(int rank, const Status& status) {
  const bool bad_input = status.code() == Code::Corrupt || status.code() == Code::Unsupported;
  return bad_input ? refuse(rank, status.message()) : complain(rank, status);
}

Result<Summary> run_task(Communicator& communicator, const Arguments& arguments, const Options& options) {
  WEFT_TRY(agree_on_arguments(communicator, arguments));
  switch (arguments.task) {
    case Task::Tune:
      return tune(communicator, arguments, options.algorithms);
    case Task::Regret:
      return measure_regret(communicator, arguments, options.algorithms);
    case Task::Calibrate:
      return calibrate(communicator, arguments, options);
    case Task::Explain:
      return explain(communicator, arguments);
    case Task::Messages:
      return measure_messages(communicator, arguments);
    case Task::Soak:
      return soak(communicator, arguments);
    case Task::Measure:
      break;
  }
  return run_benchmark(communicator, arguments);
}

// How many ranks are started, one run after the other: those that were asked for; to calibrate, one, two and four on
// each core; to compare algorithms, one on each core, for one rank alone has nothing to choose from.
std::vector<int> runs_of(const Arguments& arguments) {
  if (arguments.ranks) return {*arguments.ranks};
  const int cores = static_cast<int>(allowed_cores().size());
  if (arguments.task == Task::Calibrate && cores > 1) return {cores, 2 * cores, 4 * cores};
  if (arguments.task == Task::Calibrate) return {2, 4};
  return {std::max(2, cores)};
}

int launch(const Arguments& arguments, char** argv) {
  for (const int ranks : runs_of(arguments)) {
    if (auto status = check_before(arguments, ranks, ranks); !status.ok()) return complain(0, status);
    const auto result = launch_local_ranks({ranks, arguments.hosts, arguments.pin}, argv);
    if (!result) return complain(0, result.error());
    if (*result != kFine) return *result;
  }
  return kFine;
}

int run_rank(const Arguments& arguments, Options options) {
  apply(arguments, options);
  const int rank = options.rank;
  if (auto status = check_before(arguments, options.size, 1); !status.ok()) return complain(rank, status);
  auto communicator = Communicator::create(options);
  if (!communicator) return complain_of_creation(rank, communicator.error());
  auto summary = run_task(*communicator, arguments, options);
  if (!summary) return complain(rank, summary.error());
  if (auto status = communicator->close(); !status.ok()) return complain(rank, status);
  if (summary->wrong != 0) return rank == 0 && !summary->told.ok() ? complain(rank, summary->told) : kFailed;
  if (!summary->told.ok()) return rank == 0 ? refuse(rank, summary->told.message()) : kBadInput;
  return kFine;
}

int run(int argc, char** argv) {
  const auto parsed = parse(argc, argv);
  if (!parsed.arguments) {
    if (parsed.wrong) return refuse(0, parsed.text);
    const auto told = base::write_stdout(parsed.text);
    return told.ok() ? kFine : refuse(0, told.message());
  }
  Arguments arguments = *parsed.arguments;
  auto options = Options::from_environment();
  if (!options) return complain(0, options.error());
  const bool alone = options->source == "single";
  if (arguments.schedule_ranks > 0 && !arguments.ranks && alone) arguments.ranks = arguments.schedule_ranks;
  const bool starts_ranks =
      arguments.ranks || (alone && arguments.task != Task::Measure && arguments.task != Task::Messages);
  if (!starts_ranks || !local_placement().empty()) return run_rank(arguments, std::move(*options));
  if (!alone) {
    return refuse(options->rank, fmt::format("{} starts ranks itself, but {} already started {}: leave {} out",
                                             arguments.hosts.empty() ? "-n" : "--hosts", options->source, options->size,
                                             arguments.hosts.empty() ? "-n" : "it"));
  }
  return launch(arguments, argv);
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of the write
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a file that becomes larger than allowed (ulimit -f)
  return weft::bench::run(argc, argv);
}
