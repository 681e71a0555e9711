// Bounds that several rooms must hold alike.
#pragma once

namespace weft::base {

// A rank takes 16 bits of a UCX tag.
inline constexpr int kMaxRanks = 65'536;
// Of one call, as users may ask for them.
inline constexpr int kMaxChannels = 64;
// That a program has made for one communicator, at a time.
inline constexpr int kMaxOperators = 64;
// Their values, from kFirstUserOp on; more, so that those of destroyed ones are not soon used again.
inline constexpr int kOperatorHandles = 191;

}  // namespace weft::base
