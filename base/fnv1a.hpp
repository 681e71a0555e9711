// FNV-1a: tells texts apart where nobody tries to make two alike.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::base {

constexpr std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace weft::base
