// On x86, blocks from kRepMovsbBytes on are moved by `rep movsb`: the processor then takes ownership of the
// destination's lines without reading them, which matters when another core holds them and when they are not cached at
// all.
#include "base/copy_bytes.hpp"

#include <cstring>

namespace weft::base {

void copy_bytes(void* dst, const void* src, std::size_t bytes) noexcept {
  if (bytes == 0 || dst == src) return;
#if defined(__x86_64__)
  constexpr std::size_t kRepMovsbBytes = 2048;
  if (bytes >= kRepMovsbBytes) {
    asm volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(bytes) : : "memory");
    return;
  }
#endif
  std::memcpy(dst, src, bytes);
}

}  // namespace weft::base
