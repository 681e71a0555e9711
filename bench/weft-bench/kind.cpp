// The names of collectives and v-variants, and the list of everything.
#include "bench/weft-bench/kind.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "weft/schedule_builder.hpp"

namespace weft::bench {
namespace {

constexpr std::string_view kUnevenEnd = "_v";

template <typename T>
std::string names_of(const std::vector<T>& values) {
  std::vector<std::string> names;
  for (const T& value : values) names.emplace_back(to_string(value));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string to_string(const Kind& kind) {
  std::string name(weft::to_string(kind.collective));
  if (kind.uneven) name += kUnevenEnd;
  return name;
}

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

std::vector<Kind> compared_kinds() {
  std::vector<Kind> kinds = all_kinds();
  std::erase_if(kinds, [](const Kind& kind) { return kind.uneven; });
  return kinds;
}

std::string list_text(const algorithms::LoadedSchedules& loaded) {
  std::string text;
  for (const Kind& kind : compared_kinds()) {
    text += fmt::format("{}\n", to_string(kind));
    for (const Algorithm* algorithm : all_algorithms()) {
      if (algorithm->collective != kind.collective) continue;
      text += fmt::format("  {:<20} {}{}\n", algorithm->name, algorithm->summary,
                          algorithm->invariant ? "; invariant" : "");
    }
    for (const algorithms::LoadedSchedule& schedule : loaded.all())
      if (schedule.collective() == kind.collective) text += fmt::format("  {}\n", schedule.to_string());
  }
  std::vector<Kind> uneven = all_kinds();
  std::erase_if(uneven, [](const Kind& kind) { return !kind.uneven; });
  return text +
         fmt::format(
             "v-variants  {}\nmessages    send_recv\ntypes       {}\nops         {}\nnumerics    fast, invariant\n",
             names_of(uneven), names_of(all_of<DataType>(kDataTypes)), names_of(all_of<ReduceOp>(kReduceOps)));
}

}  // namespace weft::bench
