// Lists of numbers as people write them, and their product.
#include "tools/weft-schedule/verify_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/limits.hpp"
#include "tools/weft-schedule/commands.hpp"

namespace weft::schedule_tool {
namespace {

constexpr int kMaxProvedRanks = 1024;

std::vector<int> roots_of(const Algorithm& algorithm, int ranks, const std::vector<int>* wanted) {
  if (!has_root(algorithm.collective)) return {0};
  std::vector<int> roots;
  for (int root = 0; root < ranks; ++root)
    if (wanted == nullptr || std::binary_search(wanted->begin(), wanted->end(), root)) roots.push_back(root);
  return roots;
}

std::vector<int> replicas_of(const Algorithm& algorithm, const std::vector<int>& channels) {
  std::vector<int> replicas;
  for (const int count : channels)
    if (const Result<int> found = replicas_for(algorithm, count)) replicas.push_back(*found);
  return replicas;
}

}  // namespace

Result<std::vector<int>> parse_numbers(std::string_view option, std::string_view text, int least, int most) {
  const Status wrong(Code::InvalidArgument,
                     fmt::format("{} \"{}\" is not a list of numbers and ranges from {} to {}, as in 1-32,127", option,
                                 text, least, most));
  std::set<int> numbers;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (;;) {
    int first = 0;
    auto [next, error] = std::from_chars(at, end, first);
    if (error != std::errc()) return wrong;
    int last = first;
    if (next != end && *next == '-') {
      const auto [after, range_error] = std::from_chars(next + 1, end, last);
      if (range_error != std::errc()) return wrong;
      next = after;
    }
    if (first < least || last > most || first > last) return wrong;
    for (int n = first; n <= last; ++n) numbers.insert(n);
    if (next == end) return std::vector<int>(numbers.begin(), numbers.end());
    if (*next != ',') return wrong;
    at = next + 1;
  }
}

Group Case::group() const {
  Group group = flat_group(ranks);
  if (ranks_per_host == 0) return group;
  group.hosts.clear();
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank % ranks_per_host == 0) group.hosts.emplace_back();
    group.hosts.back().push_back(rank);
  }
  return group;
}

std::string Case::to_string() const {
  std::string text = fmt::format("{}/{} on {} ranks", weft::to_string(algorithm->collective), algorithm->name, ranks);
  if (ranks_per_host > 0) text += fmt::format(", {} per host", ranks_per_host);
  if (has_root(algorithm->collective)) text += fmt::format(", root {}", root);
  return text + fmt::format(", {} channels, {}", replicas * algorithm->native_channels,
                            in_place ? "in place" : "out of place");
}

Result<std::vector<Case>> list_cases(const CaseArguments& arguments) {
  std::vector<const Algorithm*> algorithms(all_algorithms().begin(), all_algorithms().end());
  if (arguments.algorithm) {
    WEFT_TRY_ASSIGN(const Algorithm* algorithm, algorithm_named(*arguments.algorithm));
    algorithms = {algorithm};
  }
  WEFT_TRY_ASSIGN(const std::vector<int> ranks, parse_numbers("--ranks", arguments.ranks, 1, kMaxProvedRanks));
  std::vector<int> channels = {0};
  if (arguments.channels) {
    WEFT_TRY_ASSIGN(channels, parse_numbers("--channels", *arguments.channels, 1, base::kMaxChannels));
  }
  std::vector<int> per_host = {0};
  if (arguments.ranks_per_host) {
    WEFT_TRY_ASSIGN(per_host, parse_numbers("--ranks-per-host", *arguments.ranks_per_host, 1, kMaxProvedRanks));
  }
  std::vector<int> roots;
  const bool all_roots = arguments.roots == "all";
  if (!all_roots) {
    WEFT_TRY_ASSIGN(roots, parse_numbers("--roots", arguments.roots, 0, kMaxProvedRanks));
  }
  std::vector<Case> cases;
  for (const Algorithm* algorithm : algorithms)
    for (const int size : ranks)
      for (const int host : per_host)
        for (const int root : roots_of(*algorithm, size, all_roots ? nullptr : &roots))
          for (const int replicas : replicas_of(*algorithm, channels))
            for (const bool in_place : {false, true})
              cases.push_back({algorithm, size, host, root, replicas, in_place});
  return cases;
}

}  // namespace weft::schedule_tool
