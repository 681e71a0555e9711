// Sizes as people write them, and bandwidth on the bus.
#include "base/message_sizes.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace weft::base {
namespace {

constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};

// The power of 1024 that a suffix stands for, or -1. "k", "K", "KiB", "KB" alike.
int unit_of(std::string_view suffix) {
  if (suffix.empty() || suffix == "B" || suffix == "b") return 0;
  constexpr std::string_view kLetters = "kmgt";
  const std::size_t letter = kLetters.find(static_cast<char>(suffix.front() | 0x20));
  if (letter == std::string_view::npos) return -1;
  const std::string_view rest = suffix.substr(1);
  return rest.empty() || rest == "iB" || rest == "B" ? static_cast<int>(letter) + 1 : -1;
}

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const int unit = error == std::errc() ? unit_of(text.substr(static_cast<std::size_t>(end - text.data()))) : -1;
  const Status wrong(
      Code::InvalidArgument,
      fmt::format("\"{}\" is not a size; write a whole number with k, m, g or t (powers of 1024), as in 64M", text));
  if (unit < 0) return wrong;
  if (number > (UINT64_MAX >> (10 * unit))) return wrong;
  return number << (10 * unit);
}

std::string format_bytes(std::uint64_t bytes) {
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >= std::uint64_t{1} << (10 * (unit + 1))) ++unit;
  const std::uint64_t whole = std::uint64_t{1} << (10 * unit);
  if (bytes % whole == 0) return fmt::format("{} {}", bytes / whole, kUnits[unit]);
  return fmt::format("{:.2f} {}", static_cast<double>(bytes) / static_cast<double>(whole), kUnits[unit]);
}

double bus_factor(Collective collective, int ranks) {
  const double n = ranks;
  switch (collective) {
    case Collective::AllReduce:
      return 2 * (n - 1) / n;
    case Collective::AllGather:
    case Collective::ReduceScatter:
    case Collective::AllToAll:
    case Collective::Gather:
    case Collective::Scatter:
      return (n - 1) / n;
    case Collective::Broadcast:
    case Collective::Reduce:
      return 1;
    case Collective::Barrier:
      return 0;
  }
  return 0;
}

}  // namespace weft::base
