// Overrides: the user's rules, as text.
#include <fmt/format.h>

#include <charconv>
#include <string>
#include <vector>

#include "algorithms/selector.hpp"
#include "base/limits.hpp"
#include "base/plural.hpp"

namespace weft::algorithms {
namespace {

constexpr std::size_t kMaxRules = 256;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string known_collectives() {
  std::string names;
  for (int i = 0; i < kCollectives; ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ", to_string(static_cast<Collective>(i)));
  return names;
}

std::string known_algorithms(Collective collective, const LoadedSchedules* loaded) {
  std::string names;
  for (const Algorithm* algorithm : all_algorithms())
    if (algorithm->collective == collective) names += fmt::format("{}{}", names.empty() ? "" : ", ", algorithm->name);
  std::string_view last;
  if (loaded != nullptr) {
    for (const LoadedSchedule& schedule : loaded->all()) {
      if (schedule.collective() != collective || schedule.name == last) continue;
      names += fmt::format("{}{}", names.empty() ? "" : ", ", schedule.name);
      last = schedule.name;
    }
  }
  return names.empty() ? "none" : names;
}

class RuleReader {
 public:
  RuleReader(std::string_view text, const LoadedSchedules* loaded) : text_(text), loaded_(loaded) {}

  Result<Override> read() const {
    const std::vector<std::string_view> parts = split(text_, ':');
    if (parts.size() < 2 || parts.size() > 3)
      return wrong("write collective:range:algorithm or collective:algorithm, as in all_reduce:4k-1m:ring");
    Override rule;
    const std::optional<Collective> collective = parse_collective(parts.front());
    if (!collective)
      return wrong(fmt::format("there is no collective \"{}\"; known: {}", parts.front(), known_collectives()));
    rule.collective = *collective;
    if (parts.size() == 3) WEFT_TRY(read_range(parts[1], rule));
    WEFT_TRY(read_algorithm(parts.back(), rule));
    return rule;
  }

 private:
  Status wrong(std::string_view what) const {
    return Status(Code::InvalidArgument, fmt::format("algorithm rule \"{}\": {}", text_, what));
  }

  Status read_range(std::string_view range, Override& rule) const {
    const std::size_t dash = range.find('-');
    if (dash == std::string_view::npos)
      return wrong(fmt::format("\"{}\" is not a range; write 4k-1m, -4k or 1m-", range));
    const std::string_view first = range.substr(0, dash);
    const std::string_view end = range.substr(dash + 1);
    if (!first.empty()) {
      WEFT_TRY_ASSIGN(rule.first_bytes, parse_bound(first));
    }
    if (!end.empty()) {
      WEFT_TRY_ASSIGN(rule.end_bytes, parse_bound(end));
    }
    if (rule.first_bytes >= rule.end_bytes)
      return wrong(
          fmt::format("the range \"{}\" is empty: its end, which is exclusive, must be above its start", range));
    return Status();
  }

  Result<std::uint64_t> parse_bound(std::string_view text) const {
    Result<std::uint64_t> bytes = parse_bytes(text);
    if (!bytes) return wrong(bytes.error().message());
    return bytes;
  }

  Status read_algorithm(std::string_view text, Override& rule) const {
    const std::size_t at = text.find('@');
    const std::string_view name = text.substr(0, at);
    const Algorithm* algorithm = find_algorithm(rule.collective, name);
    const LoadedSchedule* const loaded = loaded_ == nullptr ? nullptr : loaded_->named(rule.collective, name);
    if (algorithm == nullptr && loaded == nullptr)
      return wrong(fmt::format("there is no {} algorithm \"{}\"; known: {}{}", to_string(rule.collective), name,
                               known_algorithms(rule.collective, loaded_),
                               name.starts_with(kLoadedPrefix) ? "; WEFT_SCHEDULES names the files of others" : ""));
    rule.algorithm = name;
    if (at == std::string_view::npos) return Status();
    const std::string_view channels = text.substr(at + 1);
    const auto [end, error] = std::from_chars(channels.data(), channels.data() + channels.size(), rule.channels);
    if (error != std::errc() || end != channels.data() + channels.size() || rule.channels < 1 ||
        rule.channels > base::kMaxChannels)
      return wrong(fmt::format("\"@{}\" is not a number of channels from 1 to {}", channels, base::kMaxChannels));
    if (algorithm == nullptr) {
      if (loaded_->named(rule.collective, name, rule.channels) != nullptr) return Status();
      return wrong(fmt::format("{} runs on {} only", name,
                               base::plural(static_cast<std::uint64_t>(loaded->channels()), "channel")));
    }
    if (rule.channels % algorithm->native_channels != 0 ||
        (rule.channels != algorithm->native_channels && !algorithm->replicable))
      return wrong(fmt::format("{} runs on {}{}", name, base::plural(algorithm->native_channels, "channel"),
                               algorithm->replicable ? " or a multiple of it" : " only"));
    return Status();
  }

  std::string_view text_;
  const LoadedSchedules* loaded_;
};

}  // namespace

Result<Overrides> Overrides::parse(std::string_view text, const LoadedSchedules* loaded) {
  std::string compact;
  for (const char c : text)
    if (c != ' ' && c != '\t' && c != '\n') compact += c;
  Overrides result;
  for (const std::string_view piece : split(compact, ';')) {
    if (piece.empty()) continue;
    if (result.rules.size() == kMaxRules)
      return Status(Code::InvalidArgument, fmt::format("more than {} algorithm rules", kMaxRules));
    WEFT_TRY_ASSIGN(Override rule, RuleReader(piece, loaded).read());
    for (const Override& other : result.rules)
      if (other.collective == rule.collective && rule.first_bytes < other.end_bytes &&
          other.first_bytes < rule.end_bytes)
        return Status(Code::InvalidArgument,
                      fmt::format("algorithm rule \"{}\": its range overlaps that of an earlier {} rule", piece,
                                  to_string(rule.collective)));
    result.rules.push_back(std::move(rule));
  }
  return result;
}

const Override* Overrides::find(Collective collective, std::uint64_t bytes) const {
  for (const Override& rule : rules)
    if (rule.collective == collective && rule.first_bytes <= bytes && bytes < rule.end_bytes) return &rule;
  return nullptr;
}

}  // namespace weft::algorithms
