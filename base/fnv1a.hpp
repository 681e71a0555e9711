// FNV-1a: tells texts and values apart where nobody tries to make two alike. Files and other processes hold what it
// gave: it never changes.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::base {

// 64 bits, of one unit after another: bytes, as FNV is defined, or wider words.
class Fnv1a final {
 public:
  constexpr Fnv1a() = default;
  // Another start tells others apart than the usual one.
  constexpr explicit Fnv1a(std::uint64_t start) : value_(start) {}

  constexpr void add(std::uint64_t unit) { value_ = (value_ ^ unit) * 0x100000001b3; }
  constexpr std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

constexpr std::uint64_t fnv1a(std::string_view text) {
  Fnv1a hash;
  for (const char c : text) hash.add(static_cast<unsigned char>(c));
  return hash.value();
}

// In 32 bits, whose start and factor are others.
constexpr std::uint32_t fnv1a_32(std::string_view text) {
  std::uint32_t hash = 0x811c9dc5;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  return hash;
}

}  // namespace weft::base
