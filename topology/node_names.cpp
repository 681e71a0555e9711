// Names and texts made of what the world wrote.
#include "topology/node_names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft::topology {
namespace {

constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxTextBytes = 4096;

// Character by character, '-' for what is none or not wanted.
template <typename Wanted>
std::string filtered(std::string_view text, std::size_t most, Wanted wanted) {
  std::string result;
  for (std::size_t at = 0; at < text.size() && result.size() < most;) {
    const std::size_t character = character_bytes(text.substr(at));
    const std::size_t bytes = std::max<std::size_t>(character, 1);
    const bool is_wanted = character > 0 && !is_high_control(text.substr(at, bytes)) && wanted(text[at]);
    result += is_wanted ? text.substr(at, bytes) : std::string_view("-");
    at += bytes;
  }
  return result;
}

bool is_printable(char c) { return static_cast<unsigned char>(c) >= ' ' && c != '\x7f'; }

}  // namespace

std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return byte(i) >= 0x80 && byte(i) <= 0xbf; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!follows(1) || !follows(2) || (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f)) return 0;
    return 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) return 0;
    return 4;
  }
  return 0;
}

bool is_high_control(std::string_view character) {
  return character.size() == 2 && character[0] == '\xc2' && static_cast<unsigned char>(character[1]) < 0xa0;
}

std::string as_node_name(std::string_view text) {
  const std::string name = filtered(text, kMaxNameBytes, [](char c) { return is_printable(c) && c != '/'; });
  return name.empty() ? "device" : name;
}

std::string as_plain_text(std::string_view text) { return filtered(text, kMaxTextBytes, is_printable); }

std::string UniqueNames::take(std::string_view wanted) {
  const std::string base = as_node_name(wanted);
  std::string name = base;
  while (!taken_.insert(name).second) {
    int& last = last_.try_emplace(base, 1).first->second;
    name = fmt::format("{}-{}", base, ++last);
  }
  return name;
}

}  // namespace weft::topology
