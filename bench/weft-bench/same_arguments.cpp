// The ranks compare hashes; only if they differ does a value travel, to be named.
#include "bench/weft-bench/same_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/fnv1a.hpp"
#include "bench/weft-bench/timing.hpp"

namespace weft::bench {
namespace {

constexpr std::size_t kShownValue = 256;  // bytes of a value in the message

template <typename T>
std::string names(const std::vector<T>& values) {
  std::string text;
  for (const T value : values) text.append(text.empty() ? "" : ",").append(to_string(value));
  return text;
}

std::string or_none(std::string text) { return text.empty() ? "none" : std::move(text); }

// The first argument and rank that differ from rank 0; argument == count if none does.
struct Difference {
  std::size_t argument = 0;
  std::size_t rank = 0;
};
Difference first_difference(const std::vector<std::uint64_t>& hashes, std::size_t count) {
  Difference difference;
  for (; difference.argument < count; ++difference.argument) {
    for (difference.rank = 0; difference.rank < hashes.size() / count; ++difference.rank)
      if (hashes[difference.rank * count + difference.argument] != hashes[difference.argument]) return difference;
  }
  return difference;
}

}  // namespace

std::vector<NamedValue> shared_arguments(const Arguments& arguments) {
  return {
      {"--tune, --regret, --calibrate, --explain, --soak or send_recv",
       fmt::format("{}", static_cast<int>(arguments.task))},
      {"the collectives", names(arguments.collectives)},
      {"--skew", fmt::format("{}", arguments.skew)},
      {"--numerics", std::string(arguments.numerics ? to_string(*arguments.numerics) : "none")},
      {"--quantise", std::string(to_string(arguments.quantisation))},
      {"--hash", fmt::format("{}", arguments.hash)},
      {"--hash-count", fmt::format("{}", arguments.hash_count)},
      {"--algorithm", or_none(arguments.algorithm)},
      {"--schedule", or_none(arguments.schedule)},
      {"--transport", or_none(fmt::format("{}", fmt::join(arguments.transports, ",")))},
      {"--channels", fmt::format("{}", arguments.channels)},
      {"--min-bytes", fmt::format("{}", arguments.min_bytes)},
      {"--max-bytes", fmt::format("{}", arguments.max_bytes)},
      {"--factor", fmt::format("{}", arguments.factor)},
      {"--dtype", names(arguments.dtypes)},
      {"--op", names(arguments.ops)},
      {"--root", arguments.root == kAllRoots ? "all" : fmt::format("{}", arguments.root)},
      {"--in-place", fmt::format("{}", arguments.in_place)},
      {"--out-of-place", fmt::format("{}", arguments.out_of_place)},
      {"--soak", fmt::format("{}", arguments.soak_s.value_or(0))},
      {"--seed", fmt::format("{}", arguments.seed)},
      {"--symmetric", fmt::format("{}", arguments.symmetric)},
      {"--iterations", fmt::format("{}", arguments.iterations)},
      {"--warmup", fmt::format("{}", arguments.warmup)},
      {"--time-budget", fmt::format("{}", arguments.time_budget_s)},
      {"--check", fmt::format("{}", arguments.check)},
  };
}

Status agree_on_arguments(Communicator& communicator, const Arguments& arguments) {
  const auto own = shared_arguments(arguments);
  const auto ranks = static_cast<std::size_t>(communicator.size());
  std::vector<std::uint64_t> own_hashes;
  for (const auto& argument : own) own_hashes.push_back(base::fnv1a(argument.value));
  std::vector<std::uint64_t> hashes(own.size() * ranks);
  WEFT_TRY(communicator.all_gather(own_hashes.data(), hashes.data(), own.size(), DataType::UInt64));
  const auto difference = first_difference(hashes, own.size());
  if (difference.argument == own.size()) return {};

  const auto& [name, value] = own[difference.argument];
  std::vector<char> own_value(kShownValue, '\0');
  std::copy_n(value.data(), std::min(value.size(), kShownValue - 1), own_value.data());
  std::vector<char> values(kShownValue * ranks);
  WEFT_TRY(communicator.all_gather(own_value.data(), values.data(), kShownValue, DataType::UInt8));
  return Status(Code::InvalidArgument,
                fmt::format("rank {} was given {} {}, rank 0 {}: give all ranks the same arguments", difference.rank,
                            name, &values[difference.rank * kShownValue], &values[0]));
}

Status tell_all(Communicator& communicator, Status& told) {
  std::uint64_t failed = told.ok() ? 0 : 1;
  WEFT_TRY(agree_on_sum(communicator, std::span(&failed, 1)));
  if (failed > 0 && told.ok()) told = Status(Code::SystemError, "rank 0 cannot write its output");
  return {};
}

}  // namespace weft::bench
