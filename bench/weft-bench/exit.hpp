// How weft-bench ends.
#pragma once

#include "base/command_line.hpp"

namespace weft::bench {

using base::kBadInput;
using base::kFine;
inline constexpr int kFailed = 1;  // a wrong result, or a run that failed

}  // namespace weft::bench
