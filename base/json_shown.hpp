// How complaints show what a JSON text holds.
#pragma once

#include <string>
#include <string_view>

namespace weft::base {

inline constexpr std::size_t kShownText = 64;  // of a name or number from the document

// The beginning of a name from the document, on one line.
inline std::string shown(std::string_view name) {
  std::string text(name.substr(0, kShownText));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  return text;
}

}  // namespace weft::base
