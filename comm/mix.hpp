// mix: hashes of what ranks compare: plans, calls, counts. Never kept: ranks that meet are of one build.
#pragma once

#include <cstdint>

namespace weft::comm {

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccd;
  return hash ^ hash >> 32;
}

}  // namespace weft::comm
