// The only file of weft-bench that includes CLI11, which takes long to compile.
#include "bench/weft-bench/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/command_line.hpp"
#include "base/limits.hpp"
#include "base/message_sizes.hpp"
#include "weft/schedule_builder.hpp"
#include "weft/version.hpp"

namespace weft::bench {
namespace {

constexpr int kMaxRanks = 4096;
constexpr int kBenchTimeoutMs = 60'000;  // a benchmark that waits longer has failed

constexpr const char* kFooter = R"(
Sizes are bytes; k, M, G and T behind them mean 1024 bytes, its square and so on. They follow nccl-tests: the whole buffer for all_gather, reduce_scatter, all_to_all, gather and scatter. time is the median over
batches of back-to-back calls, each batch counted as its slowest rank saw it; algbw = size / time; busbw = algbw scaled to what
each rank's link carried (all_reduce: 2(n-1)/n; all_gather, reduce_scatter, all_to_all, gather, scatter: (n-1)/n).

Ranks: -n starts them here; under mpirun, srun or torchrun leave -n out; with neither there is one rank.
Exit status: 0 fine, 1 a wrong result or a failed run, 2 bad input, or output that cannot be written.

Examples:
  weft-bench all_reduce -n 4
  weft-bench all -n 4 --dtype all --op all --max-bytes 64k --iterations 1
  weft-bench all_reduce -n 2 --algorithm ring@4 --transport ucx --min-bytes 1M --max-bytes 1G
  mpirun -n 8 weft-bench all_gather --json all_gather.json
  weft-bench --tune -n 4 --table table.json       and then WEFT_TABLE=table.json
  weft-bench --regret -n 4 --json regret.json)";

// What CLI11 fills before names become values.
struct Words {
  std::vector<std::string> collectives;
  std::vector<std::string> dtypes = {"float32"};
  std::vector<std::string> ops = {"sum"};
  std::string min_bytes = "8";
  std::string max_bytes = "64M";
  std::string root = "0";
  bool out_of_place = false;
  bool no_check = false;
  bool no_pin = false;
  bool tune = false;
  bool regret = false;
  bool factor_given = false;
  bool list = false;
  std::string numerics;
  std::string quantise;
};

std::string join(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

constexpr std::string_view kUnevenEnd = "_v";

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (int i = 0; i < kCollectives; ++i) kinds.push_back({static_cast<Collective>(i), false});
  for (const Collective collective : {Collective::AllGather, Collective::ReduceScatter, Collective::AllToAll,
                                      Collective::Gather, Collective::Scatter})
    kinds.push_back({collective, true});
  return kinds;
}

std::optional<Kind> parse_kind(std::string_view name) {
  const bool uneven = name.ends_with(kUnevenEnd);
  if (uneven) name.remove_suffix(kUnevenEnd.size());
  const std::optional<Collective> collective = parse_collective(name);
  if (!collective) return std::nullopt;
  const Kind kind{*collective, uneven};
  const std::vector<Kind> known = all_kinds();
  return std::find(known.begin(), known.end(), kind) == known.end() ? std::nullopt : std::optional(kind);
}

// "all", or names; the message lists the names there are.
template <typename T, typename Parse>
std::vector<T> named(const std::vector<std::string>& words, const std::vector<T>& all, std::string_view what,
                     Parse parse_one) {
  std::vector<T> values;
  std::vector<std::string> known;
  for (const T& one : all) known.emplace_back(to_string(one));
  for (const auto& word : words) {
    if (word == "all") {
      values.insert(values.end(), all.begin(), all.end());
      continue;
    }
    const std::optional<T> value = parse_one(word);
    if (!value)
      throw CLI::ValidationError(fmt::format("there is no {} \"{}\"; choose from {}, or all", what, word, join(known)));
    values.push_back(*value);
  }
  return values;
}

template <typename T>
std::vector<T> all_of(int count) {
  std::vector<T> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<T>(i));
  return values;
}

// Each once, in the order given.
template <typename T>
void unique(std::vector<T>& values) {
  std::vector<T> once;
  for (const T& value : values) {
    if (std::find(once.begin(), once.end(), value) == once.end()) once.push_back(value);
  }
  values = std::move(once);
}

std::uint64_t bytes_of(const std::string& option, const std::string& text) {
  const auto bytes = base::parse_bytes(text);
  if (!bytes) throw CLI::ValidationError(fmt::format("{} {}", option, bytes.error().message()));
  return *bytes;
}

int root_of(const std::string& text) {
  if (text == "all") return kAllRoots;
  int root = 0;
  if (!CLI::detail::lexical_cast(text, root) || root < 0) {
    throw CLI::ValidationError(fmt::format("--root \"{}\" is neither a rank nor \"all\"", text));
  }
  return root;
}

// What compares algorithms does so for the calls of equal counts; without v-variants, whose choice is the same.
std::vector<Kind> compared_kinds() {
  std::vector<Kind> kinds = all_kinds();
  std::erase_if(kinds, [](const Kind& kind) { return kind.uneven; });
  return kinds;
}

void convert_task(const Words& words, Arguments& arguments) {
  if (words.tune || words.regret) arguments.task = words.tune ? Task::Tune : Task::Regret;
  if (arguments.task == Task::Measure) {
    if (words.collectives.empty()) throw CLI::ValidationError("collective is required");
    arguments.collectives = named(words.collectives, all_kinds(), "collective", parse_kind);
    return;
  }
  if (!arguments.algorithm.empty())
    throw CLI::ValidationError("--algorithm leaves nothing to compare: leave it out with --tune and --regret");
  if (arguments.task == Task::Tune && !arguments.json.empty())
    throw CLI::ValidationError("--tune writes its times to --table: leave --json out");
  const std::vector<Kind> all = compared_kinds();
  arguments.collectives =
      words.collectives.empty() ? all : named(words.collectives, all, "collective to compare", parse_kind);
  for (const Kind& kind : arguments.collectives) {
    if (kind.uneven)
      throw CLI::ValidationError(
          fmt::format("{} is chosen as {} is: give that", to_string(kind), to_string(kind.collective)));
  }
  if (!words.factor_given) arguments.factor = 4;
  // A cell of the table knows neither type nor place nor numerics.
  const bool one_of_each = words.dtypes.size() == 1 && words.ops.size() == 1 && words.dtypes.front() != "all" &&
                           words.ops.front() != "all" && !(words.out_of_place && arguments.in_place);
  if (arguments.task == Task::Tune && !one_of_each)
    throw CLI::ValidationError("--tune measures one --dtype, one --op, and in place or not: give one of each");
  if (arguments.task == Task::Tune && words.numerics == "invariant")
    throw CLI::ValidationError(
        "--tune measures all algorithms, which --numerics invariant does not allow: leave it out");
}

// Only what can be quantised, and nothing that would not count.
void convert_quantise(const Words& words, Arguments& arguments) {
  if (words.quantise.empty()) return;
  const std::optional<Quantisation> quantisation = parse_quantisation(words.quantise);
  if (!quantisation || *quantisation == Quantisation::None)
    throw CLI::ValidationError(fmt::format("--quantise \"{}\" is neither int8 nor e4m3", words.quantise));
  arguments.quantisation = *quantisation;
  if (arguments.task != Task::Measure)
    throw CLI::ValidationError("--tune and --regret compare calls that are not quantised: leave --quantise out");
  if (!arguments.algorithm.empty())
    throw CLI::ValidationError(
        "--algorithm is not asked with --quantise, whose stages are an all_to_all and an all_gather: set "
        "WEFT_ALGORITHMS for these");
  for (const Kind& kind : arguments.collectives) {
    if (kind != Kind{Collective::AllReduce} && kind != Kind{Collective::AllGather})
      throw CLI::ValidationError(
          fmt::format("{} cannot be quantised: --quantise goes with all_reduce and all_gather", to_string(kind)));
  }
  for (const DataType dtype : arguments.dtypes) {
    if (dtype != DataType::Float32 && dtype != DataType::Float16 && dtype != DataType::BFloat16)
      throw CLI::ValidationError(
          fmt::format("{} cannot be quantised: --quantise goes with float32, float16 and bfloat16", to_string(dtype)));
  }
  for (const ReduceOp op : arguments.ops) {
    if (op != ReduceOp::Sum && op != ReduceOp::Avg)
      throw CLI::ValidationError(
          fmt::format("{} of quantised numbers is not defined: --quantise goes with sum and avg", to_string(op)));
  }
}

// Values from words; throws CLI::ValidationError.
void convert(const Words& words, Arguments& arguments) {
  convert_task(words, arguments);
  arguments.dtypes = named(words.dtypes, all_of<DataType>(kDataTypes), "data type", parse_data_type);
  arguments.ops = named(words.ops, all_of<ReduceOp>(kReduceOps), "reduce op", parse_reduce_op);
  unique(arguments.collectives);
  unique(arguments.dtypes);
  unique(arguments.ops);
  convert_quantise(words, arguments);
  arguments.min_bytes = bytes_of("--min-bytes", words.min_bytes);
  arguments.max_bytes = bytes_of("--max-bytes", words.max_bytes);
  if (arguments.min_bytes > arguments.max_bytes) {
    throw CLI::ValidationError(
        fmt::format("--min-bytes {} is more than --max-bytes {}", words.min_bytes, words.max_bytes));
  }
  if (!words.numerics.empty()) {
    arguments.numerics = parse_numerics(words.numerics);
    if (!arguments.numerics)
      throw CLI::ValidationError(fmt::format("--numerics \"{}\" is neither fast nor invariant", words.numerics));
  }
  arguments.root = root_of(words.root);
  if (arguments.ranks && arguments.root >= *arguments.ranks) {
    throw CLI::ValidationError(fmt::format("--root {} is not a rank: there are {}", arguments.root, *arguments.ranks));
  }
  arguments.out_of_place = words.out_of_place || !arguments.in_place;
  arguments.check = !words.no_check;
  arguments.pin = !words.no_pin;
}

template <typename T>
std::string names_of(const std::vector<T>& values) {
  std::vector<std::string> names;
  for (const T& value : values) names.emplace_back(to_string(value));
  return join(names);
}

// What --list tells: one line for each algorithm.
std::string list_text() {
  std::string text;
  for (const Kind& kind : compared_kinds()) {
    text += fmt::format("{}\n", to_string(kind));
    for (const Algorithm* algorithm : all_algorithms()) {
      if (algorithm->collective != kind.collective) continue;
      text += fmt::format("  {:<20} {}{}\n", algorithm->name, algorithm->summary,
                          algorithm->invariant ? "; invariant" : "");
    }
  }
  std::vector<Kind> uneven = all_kinds();
  std::erase_if(uneven, [](const Kind& kind) { return !kind.uneven; });
  return text + fmt::format("v-variants  {}\ntypes       {}\nops         {}\nnumerics    fast, invariant\n",
                            names_of(uneven), names_of(all_of<DataType>(kDataTypes)),
                            names_of(all_of<ReduceOp>(kReduceOps)));
}

// A range lets NaN pass.
std::string not_nan(const std::string& text) {
  return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + " is not a number" : std::string();
}

void add_what(CLI::App& app, Words& words, Arguments& arguments) {
  app.add_option(
      "collective", words.collectives,
      "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, gather, "
      "scatter, barrier; the v-variants all_gather_v, reduce_scatter_v, all_to_all_v, gather_v, scatter_v; or "
      "all");
  app.add_option("-b,--min-bytes", words.min_bytes, "Smallest size: 8, 4k, 64M, 1G")->capture_default_str();
  app.add_option("-e,--max-bytes", words.max_bytes, "Largest size")->capture_default_str();
  app.add_option("-f,--factor", arguments.factor, "From one size to the next")
      ->capture_default_str()
      ->check(CLI::Range(2, 1 << 20));
  app.add_option("-d,--dtype", words.dtypes, "Data types, comma-separated, or all")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("-o,--op", words.ops, "Reduce ops, comma-separated, or all")->delimiter(',')->capture_default_str();
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

void add_how(CLI::App& app, Words& words, Arguments& arguments) {
  app.add_option("-n,--ranks", arguments.ranks, "Start that many ranks on this machine")
      ->check(CLI::Range(1, kMaxRanks));
  app.add_option("--algorithm", arguments.algorithm, "Instead of the chosen one: NAME or NAME@CHANNELS");
  app.add_option("--numerics", words.numerics, "fast or invariant: which bits come out (WEFT_NUMERICS)");
  app.add_option(
      "--quantise", words.quantise,
      "int8 or e4m3: of all_reduce and all_gather, numbers travel in blocks of bytes; each result is compared "
      "within the bound of error");
  app.add_flag("--hash", arguments.hash, "Also hash the output of a call with numbers that are sensitive to the order");
  app.add_option("--hash-count", arguments.hash_count, "Of each rank's output, hash so many elements at most")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  app.add_option("--channels", arguments.channels, "Of every call; 0: chosen with the algorithm")
      ->check(CLI::Range(0, base::kMaxChannels));
  app.add_option("--transport", arguments.transports, "Allowed transports, comma-separated, best first: shm,ucx")
      ->delimiter(',');
  app.add_option("-i,--iterations", arguments.iterations, "Timed calls for each size; 0: as fit --time-budget")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000'000));
  app.add_option("-w,--warmup", arguments.warmup, "Calls before the clock")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--time-budget", arguments.time_budget_s, "Seconds of timed calls for each size, at most")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 3600.0))
      ->check(not_nan);
  app.add_option("--timeout", arguments.timeout_s, "Seconds before a wait fails (60; else WEFT_TIMEOUT)")
      ->check(CLI::Range(1, 86400));
  app.add_option("--json", arguments.json, "Also write the results there");
  app.add_flag(
      "--check,!--no-check", [&words](std::int64_t on) { words.no_check = on < 0; },
      "Compare every result element-wise (default)");
  CLI::Option* const tune = app.add_flag(
      "--tune", words.tune, "Measure every algorithm that serves a call, and write the fastest into --table");
  app.add_flag("--regret", words.regret, "How much slower what is chosen is than the best")->excludes(tune);
  app.add_option("--table", arguments.table, "Where --tune writes; what is there of other calls is kept")
      ->capture_default_str();
  app.add_flag("--list", words.list, "Tell what can be measured: collectives with their algorithms, types, ops");
  app.add_flag("--no-pin", words.no_pin, "Do not pin the ranks of -n to cores");
}

}  // namespace

std::string to_string(const Kind& kind) {
  std::string name(weft::to_string(kind.collective));
  if (kind.uneven) name += kUnevenEnd;
  return name;
}

void apply(const Arguments& arguments, Options& options) {
  if (arguments.timeout_s) {
    options.timeout_ms = *arguments.timeout_s * 1000;
  } else if (options.timeout_ms == kDefaultTimeoutMs) {
    options.timeout_ms = kBenchTimeoutMs;
  }
  if (!arguments.transports.empty()) options.transports = arguments.transports;
  if (arguments.numerics) options.numerics = *arguments.numerics;
  if (arguments.channels > 0) options.channels = arguments.channels;
  if (arguments.algorithm.empty()) return;
  std::vector<std::string> rules;
  for (const Kind& kind : arguments.collectives) {
    // A collective and its v-variant share a rule.
    rules.push_back(fmt::format("{}:{}", to_string(kind.collective), arguments.algorithm));
  }
  unique(rules);
  options.algorithms = fmt::format("{}", fmt::join(rules, ";"));
}

Parsed parse(int argc, char** argv) {
  Words words;
  Arguments arguments;
  CLI::App app("Times collectives and checks every result.", "weft-bench");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string(version()));
  if (const std::optional<std::string> empty = base::find_empty_value(argc, argv))
    return {std::nullopt, fmt::format("{}; see weft-bench --help", *empty), true};
  try {
    add_what(app, words, arguments);
    add_how(app, words, arguments);
    base::refuse_empty_values(app);
    app.parse(argc, argv);
    words.factor_given = app.count("--factor") > 0;
    if (words.list) return {std::nullopt, list_text(), false};
    convert(words, arguments);
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, app.help(), false};
  } catch (const CLI::CallForVersion&) {
    return {std::nullopt, fmt::format("weft-bench {}\n", version()), false};
  } catch (const CLI::ParseError& error) {
    return {std::nullopt, fmt::format("{}; see weft-bench --help", error.what()), true};
  }
  return {std::move(arguments), "", false};
}

}  // namespace weft::bench
