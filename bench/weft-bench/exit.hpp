// How weft-bench ends.
#pragma once

namespace weft::bench {

inline constexpr int kFine = 0;
inline constexpr int kFailed = 1;    // a wrong result, or a run that failed
inline constexpr int kBadInput = 2;  // or output that cannot be written

}  // namespace weft::bench
