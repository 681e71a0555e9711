// Counts in words for people.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::base {

// "1 rank", "2 ranks"; "1 switch", "2 switches".
inline std::string plural(std::uint64_t n, std::string_view noun) {
  const bool hisses = noun.ends_with("ch") || noun.ends_with("x") || noun.ends_with("s");
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : hisses ? "es" : "s");
}

}  // namespace weft::base
