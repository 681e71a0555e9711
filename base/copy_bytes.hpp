// Copies for other sizes and places than memcpy is best at: into lines that another core holds, and beyond the caches.
#pragma once

#include <cstddef>

namespace weft::base {

// About half of a common last-level cache: a buffer this long evicts all of it.
inline constexpr std::size_t kStreamingBytes = std::size_t{16} << 20;

// From which length on an output is written past the caches, where each of so many ranks of a host has one, and an
// input like it: what the last-level cache holds stays in it for whoever reads it next. Two ranks, broadcast of 64 MiB,
// 480 MiB of cache: 6.1 ms through the caches, 8.3 past them; all_reduce is alike either way.
std::size_t streaming_bytes(int ranks) noexcept;

// Copies `bytes` from `src` to `dst`. The two do not overlap, or are equal (then nothing is done). Any alignment.
void copy_bytes(void* dst, const void* src, std::size_t bytes) noexcept;

// The same, past the caches: for a piece of a `dst` that is larger than they are and not read soon. Slower than
// copy_bytes otherwise. Stores that follow, such as that of a flag, are seen after the copied bytes.
void copy_streaming(void* dst, const void* src, std::size_t bytes) noexcept;

}  // namespace weft::base
