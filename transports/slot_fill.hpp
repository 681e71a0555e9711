// How bytes get into a lane's memory: copy_line for what travels in a slot line, SlotFill for the bulk area.
//
// Lines that the peer has read are cheapest to overwrite by `rep movsb`, which takes them over without reading them
// first: twice the rate of vector stores (docs/transports.md has the figures). It starts slowly, so short messages use
// plain copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace weft::transports {

// Copies `bytes` <= 40 without a call: at most three moves, overlapping instead of looping.
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

// Fills bulk slots in the way that suits this CPU, found once per lane.
class SlotFill {
 public:
  SlotFill() : string_moves_(has_fast_string_moves()) {}

  void operator()(void* to, const void* from, std::size_t bytes) const {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    if (bytes >= kStringMoveBytes && string_moves_) {
      __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
      return;
    }
#endif
    std::memcpy(to, from, bytes);  // also where a sanitizer must see the accesses
  }

 private:
  static constexpr std::size_t kStringMoveBytes = 1024;  // below, its start-up costs more than it saves

  static bool has_fast_string_moves() {
#if defined(__x86_64__)
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    constexpr unsigned kErms = 1U << 9;  // enhanced rep movsb/stosb
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & kErms) != 0;
#else
    return false;
#endif
  }

  bool string_moves_;
};

}  // namespace weft::transports
