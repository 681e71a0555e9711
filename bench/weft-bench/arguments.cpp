// The only file of weft-bench that includes CLI11, which takes long to compile.
#include "bench/weft-bench/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>

#include "base/command_line.hpp"
#include "base/limits.hpp"
#include "bench/weft-bench/schedule_file.hpp"
#include "bench/weft-bench/words.hpp"
#include "weft/version.hpp"

namespace weft::bench {
namespace {

constexpr const char* kFooter = R"(
Sizes are bytes; k, M, G and T behind them mean 1024 bytes, its square and so on. They follow nccl-tests: the whole buffer for all_gather, reduce_scatter, all_to_all, gather and scatter. time is the median over
batches of back-to-back calls, each batch counted as its slowest rank saw it; algbw = size / time; busbw = algbw scaled to what
each rank's link carried (all_reduce: 2(n-1)/n; all_gather, reduce_scatter, all_to_all, gather, scatter: (n-1)/n).

Ranks: -n starts them here; under mpirun, srun or torchrun leave -n out; with neither there is one rank.
Lists have commas and no spaces. Options that the task at hand (--tune, --soak, send_recv and so on) would ignore are refused.
Exit status: 0 fine, 1 a wrong result or a failed run, 2 bad input, or output that cannot be written.

Examples:
  weft-bench all_reduce -n 4
  weft-bench all -n 4 --dtype all --op all --max-bytes 64k --iterations 1
  weft-bench all_reduce -n 2 --algorithm ring@4 --transport ucx --min-bytes 1M --max-bytes 1G
  mpirun -n 8 weft-bench all_gather --json all_gather.json
  weft-bench send_recv -n 2
  weft-bench --calibrate --table table.json       and then WEFT_TABLE=table.json: the cost model's figures
  weft-bench --tune -n 4 --table table.json       and then WEFT_TABLE=table.json: times of algorithms
  weft-bench all_reduce -n 4 --explain
  weft-bench all_reduce --hosts 7,8 --max-bytes 1M
  weft-bench --regret -n 4 --json regret.json
  weft-bench --soak 600 -n 4
  weft-bench --schedule FILE.json                 runs what weft-schedule export wrote, on its ranks)";

// A range lets NaN pass.
std::string not_nan(const std::string& text) {
  return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + " is not a number" : std::string();
}

// One word with commas in it. CLI11 would also take the words behind it, and so a collective.
template <typename T>
CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<T>& values, const std::string& description) {
  return app.add_option(name, values, description)->delimiter(',')->allow_extra_args(false)->option_text("LIST");
}

void add_what(CLI::App& app, Words& words, Arguments& arguments) {
  app.add_option(
      "collective", words.collectives,
      "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, gather, "
      "scatter, barrier; the v-variants all_gather_v, reduce_scatter_v, all_to_all_v, gather_v, scatter_v; or "
      "all; or send_recv: messages between the first rank and the last");
  app.add_option("-b,--min-bytes", words.min_bytes, "Smallest size: 8, 4k, 64M, 1G")->capture_default_str();
  app.add_option("-e,--max-bytes", words.max_bytes, "Largest size")->capture_default_str();
  app.add_option("-f,--factor", arguments.factor, "From one size to the next")
      ->capture_default_str()
      ->check(CLI::Range(2, 1 << 20));
  add_list(app, "-d,--dtype", words.dtypes, "Data types, comma-separated, or all (float32)");
  add_list(app, "-o,--op", words.ops, "Reduce ops, comma-separated, or all (sum)");
  app.add_option("-r,--root", words.root, "Root of broadcast, reduce, gather, scatter; all: another at each call")
      ->capture_default_str();
  app.add_option("--skew", arguments.skew,
                 "Of v-variants: block 0 is so many times as long as the mean, the others share the rest")
      ->capture_default_str()
      ->check(CLI::Range(0.0, static_cast<double>(kMaxRanks)))
      ->check(not_nan);
  app.add_flag("--in-place", arguments.in_place, "Output in the input's place");
  app.add_flag("--out-of-place", words.out_of_place, "Separate buffers (default; with --in-place: both)");
}

void add_ranks(CLI::App& app, Words& words, Arguments& arguments) {
  app.add_option("-n,--ranks", arguments.ranks, "Start that many ranks on this machine")
      ->check(CLI::Range(1, kMaxRanks));
  add_list(app, "--hosts", arguments.hosts,
           "Start so many ranks on each of so many emulated hosts, comma-separated (7,8): between them bytes "
           "travel as between hosts")
      ->check(CLI::Range(1, kMaxRanks));
  app.add_flag("--no-pin", words.no_pin, "Do not pin the ranks of -n to cores");
}

void add_how(CLI::App& app, Words& words, Arguments& arguments) {
  app.add_option("--algorithm", arguments.algorithm, "Instead of the chosen one: NAME or NAME@CHANNELS");
  app.add_option(
      "--schedule", arguments.schedule,
      "Run the schedule of this JSON file (weft-schedule export) on as many ranks as it has; with --tune, --regret and "
      "--explain it is one algorithm more");
  app.add_option("--numerics", words.numerics, "fast or invariant: which bits come out (WEFT_NUMERICS)");
  app.add_option(
      "--quantise", words.quantise,
      "int8 or e4m3: of all_reduce and all_gather, numbers travel in blocks of bytes; each result is compared "
      "within the bound of error");
  app.add_option("--channels", arguments.channels, "Of every call; 0: chosen with the algorithm")
      ->check(CLI::Range(0, base::kMaxChannels));
  add_list(app, "--transport", arguments.transports, "Allowed transports, comma-separated, best first: shm,ucx");
  app.add_flag("--symmetric", arguments.symmetric, "Buffers in memory that the ranks of a host read directly");
}

void add_how_long(CLI::App& app, Arguments& arguments) {
  app.add_option("-i,--iterations", arguments.iterations, "Timed calls for each size; 0: as fit --time-budget")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000'000));
  app.add_option("-w,--warmup", arguments.warmup,
                 "Calls before the clock; of calls longer than 0.2 s one, unless --iterations is given")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
  const std::string budget = fmt::format(
      "Seconds of timed calls for each size, at most; with --tune ({} unless given) and --regret ({}) for each size "
      "and algorithm",
      kTuneBudgetS, kRegretBudgetS);
  app.add_option("--time-budget", arguments.time_budget_s, budget)
      ->capture_default_str()
      ->check(CLI::Range(0.001, 3600.0))
      ->check(not_nan);
  app.add_option("--timeout", arguments.timeout_s, "Seconds before a wait fails (60; else WEFT_TIMEOUT)")
      ->check(CLI::Range(1, 86400));
}

void add_results(CLI::App& app, Words& words, Arguments& arguments) {
  app.add_option("--json", arguments.json, "Also write the results there");
  app.add_flag(
      "--check,!--no-check", [&words](std::int64_t on) { words.no_check = on < 0; },
      "Compare every result element-wise (default)");
  app.add_flag("--hash", arguments.hash, "Also hash the output of a call with numbers that are sensitive to the order");
  app.add_option("--hash-count", arguments.hash_count,
                 "Of each rank's output, hash so many elements at most (with --hash)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
}

// What it does instead of measuring collectives.
void add_tasks(CLI::App& app, Words& words, Arguments& arguments) {
  app.add_flag(
      "--calibrate", words.calibrate,
      "Measure messages, copies and links, and write them into --table for the cost model; without -n with one, "
      "two and four ranks on each core");
  app.add_flag("--tune", words.tune, "Measure every algorithm that serves a call, and write their times into --table");
  app.add_flag("--regret", words.regret,
               "How much slower what is chosen is than the best, and how long it was predicted to take");
  app.add_flag("--explain", words.explain,
               "Measure nothing; tell for each size which algorithm is chosen, by whom and why, and the others");
  app.add_option("--table", arguments.table,
                 "Where --tune and --calibrate write; what is there of other calls on this topology is kept, a table "
                 "of another topology is refused")
      ->capture_default_str();
  app.add_option(
         "--soak", arguments.soak_s,
         "For so many seconds make random calls of all kinds (or of the collectives given), types and sizes up to "
         "--max-bytes (4M) on three communicators and threads of each rank at once, and check every result")
      ->check(CLI::Range(0.001, 864000.0))
      ->check(not_nan);
  app.add_option("--seed", arguments.seed, "Of what --soak draws")->capture_default_str();
  app.add_flag("--list", words.list, "Tell what can be measured: collectives with their algorithms, types, ops");
}

void note_what_was_given(const CLI::App& app, Words& words) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) words.given.insert(option->get_single_name());
  }
  words.given.erase("check");
  if (words.no_check) words.given.insert("no-check");
}

// What a soak takes where nothing else was said.
void draw_from_all(Words& words) {
  if (!words.has("dtype")) words.dtypes = {"all"};
  if (!words.has("op")) words.ops = {"all"};
  if (!words.has("max-bytes")) words.max_bytes = "4M";
}

Parsed refused(std::string_view why) { return {std::nullopt, fmt::format("{}; see weft-bench --help", why), true}; }

}  // namespace

Parsed parse(int argc, char** argv) {
  Words words;
  Arguments arguments;
  CLI::App app("Times collectives and checks every result.", "weft-bench");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string(version()));
  if (const std::optional<std::string> empty = base::find_empty_value(argc, argv)) return refused(*empty);
  try {
    add_what(app, words, arguments);
    add_ranks(app, words, arguments);
    add_how(app, words, arguments);
    add_how_long(app, arguments);
    add_results(app, words, arguments);
    add_tasks(app, words, arguments);
    base::refuse_empty_values(app);
    app.parse(argc, argv);
    note_what_was_given(app, words);
    words.soak = arguments.soak_s.has_value();
    if (words.soak) draw_from_all(words);
    if (words.list) {
      const auto loaded = loaded_schedule(arguments);
      return loaded ? Parsed{std::nullopt, list_text(*loaded), false} : refused(loaded.error().message());
    }
    if (const Status status = convert(words, arguments); !status.ok()) return refused(status.message());
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, app.help(), false};
  } catch (const CLI::CallForVersion&) {
    return {std::nullopt, fmt::format("weft-bench {}\n", version()), false};
  } catch (const CLI::ParseError& error) {
    return refused(error.what());
  }
  return {std::move(arguments), "", false};
}

}  // namespace weft::bench
