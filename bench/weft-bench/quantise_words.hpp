// --quantise, and what can be quantised.
#pragma once

#include "bench/weft-bench/words.hpp"
#include "weft/status.hpp"

namespace weft::bench {

// When collectives, types and operators are values already. InvalidArgument names what cannot be quantised, or would
// not count.
Status convert_quantise(const Words& words, Arguments& arguments);

}  // namespace weft::bench
