// Kind: what can be measured, by the names of the command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/loaded_schedules.hpp"
#include "weft/types.hpp"

namespace weft::bench {

// A collective or its v-variant.
struct Kind {
  Collective collective = Collective::Barrier;
  bool uneven = false;

  bool operator==(const Kind&) const = default;
};
std::string to_string(const Kind& kind);  // "all_to_all_v"
std::optional<Kind> parse_kind(std::string_view name);

std::vector<Kind> all_kinds();
// What compares algorithms does so for the calls of equal counts; without v-variants, whose choice is the same.
std::vector<Kind> compared_kinds();

template <typename T>
std::vector<T> all_of(int count) {
  std::vector<T> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<T>(i));
  return values;
}

// What --list tells: the collectives with their algorithms and those of files, one line for each, then types and
// operators.
std::string list_text(const algorithms::LoadedSchedules& loaded);

}  // namespace weft::bench
