// Lines, words and numbers.
#include "topology/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse.hpp"

namespace weft::topology {
namespace {

constexpr std::string_view kBlank(" \t\r\n\0", 5);

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(kBlank, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::vector<std::string_view> path_parts(std::string_view path) {
  std::vector<std::string_view> parts = base::split(path, '/');
  std::erase_if(parts, [](std::string_view part) { return part.empty() || part == "."; });
  return parts;
}

std::optional<std::string_view> value_of(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; (at = text.find(key, at)) != std::string_view::npos; ++at) {
    if (at != 0 && text[at - 1] != '\n') continue;
    const std::string_view rest = text.substr(at + key.size());
    return trim(rest.substr(0, std::min(rest.find('\n'), rest.size())));
  }
  return std::nullopt;
}

std::optional<std::uint32_t> parse_ipv4(std::string_view text) {
  const std::vector<std::string_view> parts = base::split(text, '.');
  if (parts.size() != 4) return std::nullopt;
  std::uint32_t address = 0;
  for (const std::string_view part : parts) {
    const std::optional<unsigned> number = parse_whole<unsigned>(part);
    if (!number || *number > 255 || part.size() > 3) return std::nullopt;
    address = address << 8 | *number;
  }
  return address;
}

std::string ipv4_text(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255);
}

std::optional<unsigned long long> parse_hex(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return parse_whole<unsigned long long>(text, 16);
}

std::string_view after_number(std::string_view text) {
  const std::size_t colon = text.find(": ");
  return colon == std::string_view::npos ? text : trim(text.substr(colon + 2));
}

bool is_bus_id(std::string_view text) {
  constexpr std::string_view kShape = ":xx:xx.x";
  constexpr std::size_t kDomain = 4;  // digits; controllers that make domains of their own use more
  if (text.size() < kShape.size() + kDomain || text.size() > kShape.size() + 2 * kDomain) return false;
  const std::size_t domain = text.size() - kShape.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
    const char wanted = i < domain ? 'x' : kShape[i - domain];
    if (wanted == 'x' ? !digit : text[i] != wanted) return false;
  }
  return true;
}

}  // namespace weft::topology
