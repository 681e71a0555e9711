// Escapes and measures.
#include "topology/export/markup.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "topology/node_names.hpp"

namespace weft::topology {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";
constexpr std::string_view kEllipsis = "\xe2\x80\xa6";

// As wide as in DejaVu Sans, which is wider than what other systems have.
double ascii_width(char c) {
  constexpr std::string_view kThin = "ijl.,:;'|! ";
  constexpr std::string_view kNarrow = "frt()[]/-\"I";
  constexpr std::string_view kWide = "mwMWO@%Q";
  if (kThin.find(c) != std::string_view::npos) return 0.36;
  if (kNarrow.find(c) != std::string_view::npos) return 0.46;
  if (kWide.find(c) != std::string_view::npos) return 1.0;
  return std::isupper(static_cast<unsigned char>(c)) != 0 ? 0.77 : 0.65;
}

// The character at the start of a text that is not empty: its bytes, and whether it can stand in a document.
struct Character {
  std::size_t bytes;
  bool valid;
};
Character first_character(std::string_view text) {
  const std::size_t bytes = character_bytes(text);
  if (bytes == 0) return {1, false};
  const auto first = static_cast<unsigned char>(text.front());
  const bool control = bytes == 1 && (first < 0x20 || first == 0x7f) && first != '\t' && first != '\n';
  // U+FFFE and U+FFFF are no characters.
  const bool none = text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf");
  return {bytes, !control && !none && !is_high_control(text.substr(0, bytes))};
}

}  // namespace

std::string label_value(std::string_view text) {
  std::string value;
  for (char c : as_plain_text(text)) {
    if (c == '"' || c == '\\') value += '\\';
    value += c;
  }
  return value;
}

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::string_view bytes = text.substr(0, character.bytes);
    text.remove_prefix(character.bytes);
    if (!character.valid)
      out += kReplacement;
    else if (bytes == "&")
      out += "&amp;";
    else if (bytes == "<")
      out += "&lt;";
    else if (bytes == ">")
      out += "&gt;";
    else if (bytes == "\"")
      out += "&quot;";
    else if (bytes == "'")
      out += "&#39;";
    else
      out += bytes;
  }
  return out;
}

double text_width(std::string_view text) {
  double width = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    width += character.bytes == 1 && character.valid ? ascii_width(text.front()) : 1.05;
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string fitted(std::string_view text, double pixels, double font_size) {
  const double room = pixels / font_size;
  if (text_width(text) <= room) return std::string(text);
  double width = text_width(kEllipsis);
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t bytes = first_character(text.substr(end)).bytes;
    width += text_width(text.substr(end, bytes));
    if (width > room) break;
    end += bytes;
  }
  while (end > 0 && text[end - 1] == ' ') --end;
  return std::string(text.substr(0, end)) + std::string(kEllipsis);
}

}  // namespace weft::topology
