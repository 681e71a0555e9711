// Names become values, and what contradicts itself is refused.
#include "bench/weft-bench/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/message_sizes.hpp"
#include "bench/weft-bench/heeded.hpp"
#include "bench/weft-bench/quantise_words.hpp"
#include "bench/weft-bench/schedule_file.hpp"

namespace weft::bench {
namespace {

constexpr std::string_view kMessages = "send_recv";

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
  struct Flag {
    bool given;
    std::string_view name;
    Task task;
  };
  std::vector<Flag> flags = {{words.tune, "--tune", Task::Tune},
                             {words.regret, "--regret", Task::Regret},
                             {words.calibrate, "--calibrate", Task::Calibrate},
                             {words.explain, "--explain", Task::Explain},
                             {words.soak, "--soak", Task::Soak}};
  std::erase_if(flags, [](const Flag& flag) { return !flag.given; });
  if (flags.size() > 1)
    return wrong(fmt::format("{} and {} each do something else: give one of them", flags[0].name, flags[1].name));
  if (std::find(words.collectives.begin(), words.collectives.end(), kMessages) == words.collectives.end())
    return flags.empty() ? Task::Measure : flags[0].task;
  if (!flags.empty())
    return wrong(
        fmt::format("{} does not take send_recv, which is no collective: leave one of them out", flags[0].name));
  if (words.collectives.size() > 1) return wrong("send_recv is measured by itself: leave the other collectives out");
  return Task::Messages;
}

// --tune and --regret.
Status convert_comparison(const Words& words, Arguments& arguments) {
  arguments.collectives = compared_kinds();
  if (!words.collectives.empty()) {
    WEFT_TRY_ASSIGN(arguments.collectives,
                    named(words.collectives, arguments.collectives, "collective to compare", parse_kind));
  }
  for (const Kind& kind : arguments.collectives) {
    if (kind.uneven)
      return wrong(fmt::format("{} is chosen as {} is: give that", to_string(kind), to_string(kind.collective)));
  }
  if (!words.has("factor")) arguments.factor = 4;
  if (!words.has("time-budget")) arguments.time_budget_s = arguments.task == Task::Tune ? kTuneBudgetS : kRegretBudgetS;
  // A cell of the table knows neither type nor place nor numerics.
  const bool one_of_each = words.dtypes.size() == 1 && words.ops.size() == 1 && words.dtypes.front() != "all" &&
                           words.ops.front() != "all" && !(words.out_of_place && arguments.in_place);
  if (arguments.task == Task::Tune && !one_of_each)
    return wrong("--tune measures one --dtype, one --op, and in place or not: give one of each");
  if (arguments.task == Task::Tune && words.numerics == "invariant")
    return wrong("--tune measures all algorithms, which --numerics invariant does not allow: leave it out");
  return {};
}

// What is measured, explained or drawn from.
Status convert_collectives(const Words& words, Arguments& arguments) {
  if (words.collectives.empty() && arguments.task != Task::Soak) return wrong("collective is required");
  arguments.collectives = all_kinds();
  if (!words.collectives.empty()) {
    WEFT_TRY_ASSIGN(arguments.collectives, named(words.collectives, all_kinds(), "collective", parse_kind));
  }
  const auto uneven = [](const Kind& kind) { return kind.uneven; };
  if (words.has("skew") && std::none_of(arguments.collectives.begin(), arguments.collectives.end(), uneven))
    return wrong("--skew is of v-variants (all_to_all_v), and none is given: leave it out");
  return {};
}

Status convert_task(const Words& words, Arguments& arguments) {
  WEFT_TRY_ASSIGN(arguments.task, task_of(words));
  WEFT_TRY(refuse_ignored(words, arguments.task));
  switch (arguments.task) {
    case Task::Messages:
      return {};
    case Task::Calibrate:
      return words.collectives.empty() ? Status() : wrong("--calibrate measures messages: leave collectives out");
    case Task::Tune:
    case Task::Regret:
      return convert_comparison(words, arguments);
    case Task::Measure:
    case Task::Explain:
    case Task::Soak:
      break;
  }
  return convert_collectives(words, arguments);
}

Status convert_sizes(const Words& words, Arguments& arguments) {
  WEFT_TRY_ASSIGN(arguments.min_bytes, bytes_of("--min-bytes", words.min_bytes));
  WEFT_TRY_ASSIGN(arguments.max_bytes, bytes_of("--max-bytes", words.max_bytes));
  if (arguments.min_bytes <= arguments.max_bytes) return {};
  if (!words.has("min-bytes"))
    return wrong(fmt::format("--max-bytes {} is less than {}, where sizes begin without --min-bytes: give both",
                             words.max_bytes, words.min_bytes));
  if (!words.has("max-bytes"))
    return wrong(fmt::format("--min-bytes {} is more than {}, where sizes end without --max-bytes: give both",
                             words.min_bytes, words.max_bytes));
  return wrong(fmt::format("--min-bytes {} is more than --max-bytes {}", words.min_bytes, words.max_bytes));
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
  WEFT_TRY(convert_sizes(words, arguments));
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

}  // namespace weft::bench
