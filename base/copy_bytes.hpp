// copy_bytes: memcpy that stays fast when the destination's lines belong to another core or the block is larger than
// the caches.
#pragma once

#include <cstddef>

namespace weft::base {

// Copies `bytes` from `src` to `dst`. The two do not overlap, or are equal (then nothing is done).
void copy_bytes(void* dst, const void* src, std::size_t bytes) noexcept;

}  // namespace weft::base
