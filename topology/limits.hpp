// Bounds on graphs, however they come in: large enough for 16,384 GPUs with all that is around them.
#pragma once

#include <cstddef>

namespace weft::topology {

inline constexpr std::size_t kMaxNodes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxLinks = std::size_t{1} << 22;
inline constexpr std::size_t kMaxFileBytes = std::size_t{1} << 28;  // of a topology file
inline constexpr std::size_t kMaxRemarks = std::size_t{1} << 16;
inline constexpr int kMaxGpus = 16384;
inline constexpr int kMaxHosts = 16384;

}  // namespace weft::topology
