// A choice as text for people.
#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>

#include "algorithms/selector.hpp"
#include "base/plural.hpp"
#include "weft/choice.hpp"

namespace weft {
namespace {

std::string_view source_text(ChoiceSource source) {
  switch (source) {
    case ChoiceSource::Override:
      return "your override";
    case ChoiceSource::Table:
      return "measured";
    case ChoiceSource::Model:
      return "cost model";
    case ChoiceSource::Only:
      return "no alternative";
  }
  return "?";
}

std::string time_text(std::int64_t ns) {
  if (ns < 10'000) return fmt::format("{:.2f} us", static_cast<double>(ns) / 1e3);
  if (ns < 10'000'000) return fmt::format("{:.1f} us", static_cast<double>(ns) / 1e3);
  return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6);
}

std::string name_text(const Candidate& candidate) {
  return fmt::format("{}, {}", candidate.algorithm, base::plural(candidate.channels, "channel"));
}

}  // namespace

std::string Choice::to_string() const {
  std::string text = fmt::format("{} of {} on {}\n", weft::to_string(collective), algorithms::format_bytes(bytes),
                                 base::plural(ranks, "rank"));
  if (candidates.empty()) return text;
  const Candidate& best = winner();
  text += fmt::format("  choice  {}: {} expected ({})\n", name_text(best), time_text(best.estimate_ns),
                      source_text(source));
  text += fmt::format("  reason  {}\n", reason);
  // Of each algorithm the best number of channels; the rest is in `candidates`.
  std::set<std::string_view> shown = {best.algorithm};
  for (const Candidate& other : candidates) {
    if (!shown.insert(other.algorithm).second) continue;
    if (other.estimate_ns < 0) {
      text += fmt::format("  cannot  {:<34} {}\n", other.algorithm, other.note);
      continue;
    }
    std::string factor;
    if (best.estimate_ns > 0)
      factor = fmt::format("{:.2f} x", static_cast<double>(other.estimate_ns) / static_cast<double>(best.estimate_ns));
    const std::string binds = other.bottleneck.empty() ? "" : fmt::format("; {} binds", other.bottleneck);
    text += fmt::format("  also    {:<34} {:>10} {:>8}  {}{}\n", name_text(other), time_text(other.estimate_ns), factor,
                        other.note, binds);
  }
  return text;
}

}  // namespace weft
