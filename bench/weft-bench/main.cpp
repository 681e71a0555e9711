// weft-bench: times Weft's collectives and checks every result, on ranks that it starts itself or that a launcher
// started.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "bench/weft-bench/arguments.hpp"
#include "bench/weft-bench/launcher.hpp"
#include "bench/weft-bench/machine.hpp"
#include "bench/weft-bench/report.hpp"
#include "bench/weft-bench/runner.hpp"
#include "bench/weft-bench/sizes.hpp"
#include "weft/communicator.hpp"

namespace weft::bench {
namespace {

enum Exit { kFine = 0, kFailed = 1, kBadInput = 2 };

int complain(int rank, const Status& status) {
  const bool bad_input = status.code() == Code::InvalidArgument || status.code() == Code::NotFound;
  // All ranks of -n see the same bad input and rank 0 says it. Other launchers end all ranks as soon as one ends, so
  // there each says it: rank 0 might not come to it.
  const bool rank_0_says_it = bad_input && rank > 0 && !local_placement().empty();
  if (!rank_0_says_it) {
    const auto who = rank > 0 && !bad_input ? fmt::format("rank {}: ", rank) : "";
    fmt::print(stderr, "weft-bench: {}{}\n", who, status.message());
  }
  return bad_input ? kBadInput : kFailed;
}

// What can be seen to go wrong before any rank runs.
Status check(const Arguments& arguments, int ranks, int local_ranks) {
  if (arguments.root >= ranks) {
    return Status(Code::InvalidArgument, fmt::format("--root {} is not a rank: there are {}", arguments.root, ranks));
  }
  const auto needed = memory_of_a_rank(arguments, ranks) * static_cast<std::uint64_t>(local_ranks);
  const auto available = this_machine().available_bytes;
  if (available > 0 && needed > available) {
    return Status(
        Code::InvalidArgument,
        fmt::format("{} ranks need {:.1f} GiB for buffers and {:.1f} GiB are free; choose a smaller "
                    "--max-bytes",
                    local_ranks, static_cast<double>(needed) / (1 << 30), static_cast<double>(available) / (1 << 30)));
  }
  if (arguments.json.empty()) return {};
  const auto folder = std::filesystem::path(arguments.json).parent_path();
  const std::string where = folder.empty() ? "." : folder.string();
  if (access(where.c_str(), W_OK) != 0 || !is_replaceable(arguments.json)) {
    return Status(Code::InvalidArgument, fmt::format("--json \"{}\" cannot be written there", arguments.json));
  }
  return {};
}

int run_rank(const Arguments& arguments, Options options) {
  apply(arguments, options);
  const int rank = options.rank;
  if (auto status = check(arguments, options.size, 1); !status.ok()) return complain(rank, status);
  auto communicator = Communicator::create(options);
  if (!communicator) return complain(rank, communicator.error());
  auto all_right = run_benchmark(*communicator, arguments);
  if (!all_right) return complain(rank, all_right.error());
  if (auto status = communicator->close(); !status.ok()) return complain(rank, status);
  return *all_right ? kFine : kFailed;
}

int run(int argc, char** argv) {
  const auto parsed = parse(argc, argv);
  if (!parsed.arguments) {
    fmt::print(parsed.exit_code == 0 ? stdout : stderr, "{}", parsed.text);
    return parsed.exit_code;
  }
  const auto& arguments = *parsed.arguments;
  auto options = Options::from_environment();
  if (!options) return complain(0, options.error());
  if (!arguments.ranks || !local_placement().empty()) return run_rank(arguments, std::move(*options));

  if (options->source != "single") {
    return complain(options->rank, Status(Code::InvalidArgument,
                                          fmt::format("-n starts ranks itself, but {} already started {}: leave -n out",
                                                      options->source, options->size)));
  }
  if (auto status = check(arguments, *arguments.ranks, *arguments.ranks); !status.ok()) return complain(0, status);
  const auto result = launch_local_ranks({*arguments.ranks, arguments.pin}, argv);
  return result ? *result : complain(0, result.error());
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) { return weft::bench::run(argc, argv); }
