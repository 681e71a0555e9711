// Escapes what is not printable and shortens what is long.
#include "transports/store/printable.hpp"

#include <fmt/format.h>

namespace weft::transports {

std::string printable(std::string_view bytes) {
  constexpr std::size_t kLongest = 80;
  std::string text;
  for (const char c : bytes) {
    if (text.size() >= kLongest) return text + "...";
    if (c >= 0x20 && c < 0x7f) {
      text.push_back(c);
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text;
}

}  // namespace weft::transports
