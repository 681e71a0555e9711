// A schedule made for calls out of place, made to fit calls in place, and the other way round.
#pragma once

#include "weft/schedule.hpp"

namespace weft::algorithms {

// The schedule, which has passed verify(), for calls that are in place on every rank, or on none. Programs of ranks
// that are so already stay as they are; others get copies at their start and read what these left. What ranks send, to
// whom and in which order does not change, so that ranks in place and ranks out of place work together. The result is
// to be proved: where memory that two channels share would be written, it does not pass.
Schedule with_aliasing(const Schedule& schedule, bool in_place);

}  // namespace weft::algorithms
