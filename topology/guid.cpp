// GUIDs, from one form to the other.
#include "topology/guid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace weft::topology {
namespace {

constexpr std::size_t kDigits = 16;

std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (error != std::errc() || end != digits.data() + digits.size() || number == 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::string> guid_of_nccl(std::string_view number) {
  if (number.starts_with("0x") || number.starts_with("0X")) number.remove_prefix(2);
  if (number.empty() || number.size() > kDigits) return std::nullopt;
  const std::optional<std::uint64_t> value = number_of(number);
  if (!value) return std::nullopt;
  const std::uint64_t guid = __builtin_bswap64(*value);
  return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", guid >> 48, guid >> 32 & 0xffff, guid >> 16 & 0xffff,
                     guid & 0xffff);
}

std::optional<std::string> guid_for_nccl(std::string_view guid) {
  std::string digits;
  for (char c : guid)
    if (c != ':') digits += c;
  if (digits.size() != kDigits) return std::nullopt;
  const std::optional<std::uint64_t> value = number_of(digits);
  return value ? std::optional(fmt::format("0x{:x}", __builtin_bswap64(*value))) : std::nullopt;
}

std::string bare_digits(std::string_view identifier) {
  if (identifier.starts_with("0x") || identifier.starts_with("0X")) identifier.remove_prefix(2);
  std::string digits;
  for (char c : identifier)
    if (std::isxdigit(static_cast<unsigned char>(c)) != 0)
      digits += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace weft::topology
