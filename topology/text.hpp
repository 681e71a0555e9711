// What texts that other programs and the kernel write are made of: lines, words, numbers, lines that begin with a key.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weft::topology {

// Editors on Windows put a byte-order mark before UTF-8. It says nothing, and no reader knows it.
std::string_view without_byte_order_mark(std::string_view text);
// Without white space and zero bytes around it.
std::string_view trim(std::string_view text);
std::vector<std::string_view> lines_of(std::string_view text);
// Between white space.
std::vector<std::string_view> words_of(std::string_view line);
// Of a path, without what does not lead anywhere: empty ones and ".".
std::vector<std::string_view> path_parts(std::string_view path);
// What follows `key` on the first line that begins with it, trimmed: "CapEff:" -> "000001ffffffffff".
std::optional<std::string_view> value_of(std::string_view text, std::string_view key);

// The whole text as a number, or nothing. `base`: of an integer.
template <typename Number>
std::optional<Number> parse_whole(std::string_view text, [[maybe_unused]] int base = 10) {
  Number number{};
  const char* const last = text.data() + text.size();
  std::from_chars_result result{};
  if constexpr (std::is_floating_point_v<Number>)
    result = std::from_chars(text.data(), last, number);
  else
    result = std::from_chars(text.data(), last, number, base);
  if (result.ec != std::errc() || result.ptr != last) return std::nullopt;
  return number;
}

// "0x00a1" or "00a1".
std::optional<unsigned long long> parse_hex(std::string_view text);

// "4: ACTIVE" -> "ACTIVE".
std::string_view after_number(std::string_view text);

// "10.0.0.4", and back; the first number is the highest byte.
std::optional<std::uint32_t> parse_ipv4(std::string_view text);
std::string ipv4_text(std::uint32_t address);

// "0000:c1:00.0", lower case; domains may have up to 8 digits.
bool is_bus_id(std::string_view text);

}  // namespace weft::topology
