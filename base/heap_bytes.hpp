// What containers take of the heap beyond their own size, for reports of what something costs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::base {

inline constexpr std::uint64_t kTreeNodeBytes = 32;  // of a map's or set's entry, beside the entry itself

// Short texts lie in the string itself.
inline std::uint64_t heap_bytes(const std::string& text) {
  return text.capacity() > std::string().capacity() ? text.capacity() + 1 : 0;
}

template <typename T>
std::uint64_t heap_bytes(const std::vector<T>& list) {
  return list.capacity() * sizeof(T);
}

}  // namespace weft::base
