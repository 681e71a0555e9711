// What the texts of sysfs and procfs are made of: lines, words, numbers, lines that begin with a key.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::topology {

// Without white space and zero bytes around it.
std::string_view trim(std::string_view text);
std::vector<std::string_view> lines_of(std::string_view text);
std::vector<std::string_view> blank_separated(std::string_view line);
// What follows `key` on the first line that begins with it, trimmed: "CapEff:" -> "000001ffffffffff".
std::optional<std::string_view> value_of(std::string_view text, std::string_view key);

// The whole text as a number, or nothing.
template <typename Number>
std::optional<Number> parse_whole(std::string_view text, int base = 10) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "0x00a1" or "00a1".
std::optional<unsigned long long> parse_hex(std::string_view text);

// "4: ACTIVE" -> "ACTIVE".
std::string_view after_number(std::string_view text);

// "0000:c1:00.0", lower case; domains may have up to 8 digits.
bool is_bus_id(std::string_view text);

}  // namespace weft::topology
