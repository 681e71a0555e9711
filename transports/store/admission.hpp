// Admission: whom rank 0's store takes in, and what the others are told.
#pragma once

#include <optional>

#include "transports/store/board.hpp"
#include "transports/store/hello.hpp"

namespace weft::transports {

// Nothing: welcome. `holder` is the hello of the process that is this rank now, if there is one.
std::optional<Refusal> why_refused(const Hello& hello, const Hello& rank_0, const Board& board, const Hello* holder);

}  // namespace weft::transports
