// Names become values, and what contradicts itself is refused.
#include "bench/weft-bench/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/message_sizes.hpp"
#include "bench/weft-bench/schedule_file.hpp"

namespace weft::bench {
namespace {

constexpr std::string_view kMessages = "send_recv";
constexpr int kBenchTimeoutMs = 60'000;  // a benchmark that waits longer has failed

Status wrong(std::string text) { return Status(Code::InvalidArgument, std::move(text)); }

// "all", or names; the message lists the names there are.
template <typename T, typename Parse>
Result<std::vector<T>> named(const std::vector<std::string>& words, const std::vector<T>& all, std::string_view what,
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
    if (!value) {
      return wrong(fmt::format("there is no {} \"{}\"; choose from {}, or all", what, word, fmt::join(known, ", ")));
    }
    values.push_back(*value);
  }
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

Result<std::uint64_t> bytes_of(const std::string& option, const std::string& text) {
  auto bytes = base::parse_bytes(text);
  if (!bytes) return wrong(fmt::format("{} {}", option, bytes.error().message()));
  return bytes;
}

Result<int> root_of(const std::string& text) {
  if (text == "all") return kAllRoots;
  int root = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, root);
  if (parsed.ec != std::errc() || parsed.ptr != end || root < 0)
    return wrong(fmt::format("--root \"{}\" is neither a rank nor \"all\"", text));
  return root;
}

Result<Task> task_of(const Words& words) {
  if (words.tune + words.regret + words.calibrate + words.explain + words.soak > 1)
    return wrong("--tune, --regret, --calibrate, --explain and --soak each do something else: give one of them");
  if (words.tune) return Task::Tune;
  if (words.regret) return Task::Regret;
  if (words.calibrate) return Task::Calibrate;
  if (words.soak) return Task::Soak;
  return words.explain ? Task::Explain : Task::Measure;
}

// What only the measurements of collectives heed.
Status refuse_ignored(const Words& words, const Arguments& arguments) {
  if (arguments.hash || words.hash_count_given)
    return wrong(
        "--hash and --hash-count go with measuring a collective: leave them out with --tune, "
        "--regret, --calibrate, --explain and --soak");
  if (words.calls_given || words.no_check)
    return wrong(
        "--iterations, --warmup and --no-check go with measuring a collective or send_recv: leave them out with "
        "--tune, --regret, --calibrate, --explain and --soak");
  const bool compares = arguments.task == Task::Tune || arguments.task == Task::Regret;
  if (words.time_budget_given && !compares)
    return wrong("--time-budget is not asked by --calibrate, --explain and --soak: leave it out");
  if (arguments.task != Task::Regret && !arguments.json.empty())
    return wrong(
        "--json holds measurements: leave it out, --tune and --calibrate write to --table, and "
        "--explain and --soak print");
  return {};
}

Status convert_messages(const Words& words, Arguments& arguments) {
  if (words.collectives.size() > 1 || arguments.task != Task::Measure)
    return wrong("send_recv is measured by itself: leave the others out");
  if (!arguments.algorithm.empty() || arguments.hash || arguments.in_place)
    return wrong("--algorithm, --hash and --in-place are of collectives: leave them out with send_recv");
  if (arguments.symmetric) return wrong("send_recv takes buffers of its own: leave --symmetric out");
  arguments.task = Task::Messages;
  return {};
}

// --tune and --regret.
Status convert_comparison(const Words& words, Arguments& arguments) {
  if (!arguments.algorithm.empty())
    return wrong("--algorithm leaves nothing to compare: leave it out with --tune and --regret");
  arguments.collectives = compared_kinds();
  if (!words.collectives.empty()) {
    WEFT_TRY_ASSIGN(arguments.collectives,
                    named(words.collectives, arguments.collectives, "collective to compare", parse_kind));
  }
  for (const Kind& kind : arguments.collectives) {
    if (kind.uneven)
      return wrong(fmt::format("{} is chosen as {} is: give that", to_string(kind), to_string(kind.collective)));
  }
  if (!words.factor_given) arguments.factor = 4;
  if (!words.time_budget_given) arguments.time_budget_s = arguments.task == Task::Tune ? kTuneBudgetS : kRegretBudgetS;
  // A cell of the table knows neither type nor place nor numerics.
  const bool one_of_each = words.dtypes.size() == 1 && words.ops.size() == 1 && words.dtypes.front() != "all" &&
                           words.ops.front() != "all" && !(words.out_of_place && arguments.in_place);
  if (arguments.task == Task::Tune && !one_of_each)
    return wrong("--tune measures one --dtype, one --op, and in place or not: give one of each");
  if (arguments.task == Task::Tune && words.numerics == "invariant")
    return wrong("--tune measures all algorithms, which --numerics invariant does not allow: leave it out");
  return {};
}

Status convert_task(const Words& words, Arguments& arguments) {
  WEFT_TRY_ASSIGN(arguments.task, task_of(words));
  if (std::find(words.collectives.begin(), words.collectives.end(), kMessages) != words.collectives.end())
    return convert_messages(words, arguments);
  if (arguments.task != Task::Measure) WEFT_TRY(refuse_ignored(words, arguments));
  if (arguments.task == Task::Calibrate) {
    if (!words.collectives.empty() || !arguments.algorithm.empty())
      return wrong("--calibrate measures messages: leave collectives and --algorithm out");
    return {};
  }
  if (arguments.task == Task::Soak) {
    arguments.collectives = all_kinds();
    if (words.collectives.empty()) return {};
    WEFT_TRY_ASSIGN(arguments.collectives, named(words.collectives, all_kinds(), "collective", parse_kind));
    return {};
  }
  if (arguments.task == Task::Measure || arguments.task == Task::Explain) {
    if (words.collectives.empty()) return wrong("collective is required");
    WEFT_TRY_ASSIGN(arguments.collectives, named(words.collectives, all_kinds(), "collective", parse_kind));
    return {};
  }
  return convert_comparison(words, arguments);
}

// Only what can be quantised, and nothing that would not count.
Status convert_quantise(const Words& words, Arguments& arguments) {
  if (words.quantise.empty()) return {};
  const std::optional<Quantisation> quantisation = parse_quantisation(words.quantise);
  if (!quantisation || *quantisation == Quantisation::None)
    return wrong(fmt::format("--quantise \"{}\" is neither int8 nor e4m3", words.quantise));
  arguments.quantisation = *quantisation;
  if (arguments.task != Task::Measure && arguments.task != Task::Explain)
    return wrong(
        "--tune, --regret, --calibrate and --soak take calls that are not quantised, and so does send_recv: leave "
        "--quantise out");
  if (!arguments.algorithm.empty())
    return wrong(
        "--algorithm is not asked with --quantise, whose stages are an all_to_all and an all_gather: set "
        "WEFT_ALGORITHMS for these");
  for (const Kind& kind : arguments.collectives) {
    if (kind != Kind{Collective::AllReduce} && kind != Kind{Collective::AllGather})
      return wrong(
          fmt::format("{} cannot be quantised: --quantise goes with all_reduce and all_gather", to_string(kind)));
  }
  for (const DataType dtype : arguments.dtypes) {
    if (dtype != DataType::Float32 && dtype != DataType::Float16 && dtype != DataType::BFloat16)
      return wrong(
          fmt::format("{} cannot be quantised: --quantise goes with float32, float16 and bfloat16", to_string(dtype)));
  }
  for (const ReduceOp op : arguments.ops) {
    if (op != ReduceOp::Sum && op != ReduceOp::Avg)
      return wrong(
          fmt::format("{} of quantised numbers is not defined: --quantise goes with sum and avg", to_string(op)));
  }
  return {};
}

Status convert_hosts(Arguments& arguments) {
  if (arguments.hosts.empty()) return {};
  const auto ranks = std::accumulate(arguments.hosts.begin(), arguments.hosts.end(), std::int64_t{0});
  if (arguments.ranks.value_or(ranks) != ranks)
    return wrong(fmt::format("-n {} is not the sum of --hosts, which is {}: leave -n out", *arguments.ranks, ranks));
  if (ranks > kMaxRanks) return wrong(fmt::format("--hosts start {} ranks, more than {}", ranks, kMaxRanks));
  arguments.ranks = static_cast<int>(ranks);
  return {};
}

}  // namespace

Status convert(Words& words, Arguments& arguments) {
  WEFT_TRY(convert_schedule(words, arguments));
  WEFT_TRY(convert_task(words, arguments));
  WEFT_TRY(convert_hosts(arguments));
  WEFT_TRY_ASSIGN(arguments.dtypes, named(words.dtypes, all_of<DataType>(kDataTypes), "data type", parse_data_type));
  WEFT_TRY_ASSIGN(arguments.ops, named(words.ops, all_of<ReduceOp>(kReduceOps), "reduce op", parse_reduce_op));
  unique(arguments.collectives);
  unique(arguments.dtypes);
  unique(arguments.ops);
  WEFT_TRY(convert_quantise(words, arguments));
  WEFT_TRY_ASSIGN(arguments.min_bytes, bytes_of("--min-bytes", words.min_bytes));
  WEFT_TRY_ASSIGN(arguments.max_bytes, bytes_of("--max-bytes", words.max_bytes));
  if (arguments.min_bytes > arguments.max_bytes) {
    return wrong(fmt::format("--min-bytes {} is more than --max-bytes {}", words.min_bytes, words.max_bytes));
  }
  if (!words.numerics.empty()) {
    arguments.numerics = parse_numerics(words.numerics);
    if (!arguments.numerics)
      return wrong(fmt::format("--numerics \"{}\" is neither fast nor invariant", words.numerics));
  }
  WEFT_TRY_ASSIGN(arguments.root, root_of(words.root));
  if (arguments.ranks && arguments.root >= *arguments.ranks) {
    return wrong(fmt::format("--root {} is not a rank: there are {}", arguments.root, *arguments.ranks));
  }
  arguments.out_of_place = words.out_of_place || !arguments.in_place;
  arguments.check = !words.no_check;
  arguments.pin = !words.no_pin;
  return {};
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
  std::vector<std::string>& files = options.schedule_files;
  if (!arguments.schedule.empty() && std::find(files.begin(), files.end(), arguments.schedule) == files.end())
    files.push_back(arguments.schedule);
  if (arguments.algorithm.empty()) return;
  std::vector<std::string> rules;
  for (const Kind& kind : arguments.collectives) {
    // A collective and its v-variant share a rule.
    rules.push_back(fmt::format("{}:{}", to_string(kind.collective), arguments.algorithm));
  }
  unique(rules);
  options.algorithms = fmt::format("{}", fmt::join(rules, ";"));
}

}  // namespace weft::bench
