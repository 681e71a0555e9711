#include "bench/weft-bench/sizes.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace weft::bench {
namespace {

constexpr std::string_view kSuffixes = "kmgt";

// The power of 1024 of a suffix; empty if it is none.
std::optional<int> suffix_power(std::string_view suffix) {
  if (suffix.empty() || suffix == "B") return 0;
  const auto power = kSuffixes.find(static_cast<char>(suffix[0] | 0x20));
  const auto rest = suffix.substr(1);
  if (power == std::string_view::npos || !(rest.empty() || rest == "B" || rest == "iB")) return std::nullopt;
  return static_cast<int>(power) + 1;
}

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const auto power = suffix_power(text.substr(static_cast<std::size_t>(end - text.data())));
  if (!power) return std::nullopt;
  for (int i = 0; i < *power; ++i) {
    if (number > std::numeric_limits<std::uint64_t>::max() / 1024) return std::nullopt;
    number *= 1024;
  }
  return number;
}

std::string format_bytes(std::uint64_t bytes) {
  int power = 0;
  while (power < 4 && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++power;
  }
  constexpr std::string_view kNames = " KMGT";
  return power == 0 ? fmt::format("{}", bytes) : fmt::format("{}{}", bytes, kNames[static_cast<std::size_t>(power)]);
}

std::vector<std::uint64_t> sweep(std::uint64_t first, std::uint64_t last, int factor) {
  std::vector<std::uint64_t> sizes;
  const auto step = static_cast<std::uint64_t>(factor);
  for (auto size = first; size <= last; size *= step) {
    sizes.push_back(size);
    if (size == 0 || size > last / step) break;
  }
  return sizes;
}

}  // namespace weft::bench
