// Bounds that several rooms must hold alike.
#pragma once

namespace weft::base {

// A rank takes 16 bits of a UCX tag.
inline constexpr int kMaxRanks = 65'536;
// Of one call, as users may ask for them.
inline constexpr int kMaxChannels = 64;

}  // namespace weft::base
