// copy_line: what travels in a slot line is copied without a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::transports {

// Copies `bytes` <= 48: at most three moves, overlapping instead of looping.
inline void copy_line(void* to, const void* from, std::size_t bytes) {
  auto* dst = static_cast<std::byte*>(to);
  const auto* src = static_cast<const std::byte*>(from);
  const auto both_ends = [&]<typename Word>(Word) {
    Word first;
    Word last;
    std::memcpy(&first, src, sizeof(Word));
    std::memcpy(&last, src + bytes - sizeof(Word), sizeof(Word));
    std::memcpy(dst, &first, sizeof(Word));
    std::memcpy(dst + bytes - sizeof(Word), &last, sizeof(Word));
  };
  struct Words {
    std::uint64_t low;
    std::uint64_t high;
  };
  if (bytes >= 16) {
    if (bytes > 32) std::memcpy(dst + 16, src + 16, 16);
    both_ends(Words{});
  } else if (bytes >= 8) {
    both_ends(std::uint64_t{});
  } else if (bytes >= 4) {
    both_ends(std::uint32_t{});
  } else if (bytes != 0) {
    dst[0] = src[0];
    if (bytes > 1) both_ends(std::uint16_t{});
  }
}

}  // namespace weft::transports
