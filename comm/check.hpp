// Argument checks of a call, and whether it is in place.
#pragma once

#include "weft/operation.hpp"
#include "weft/status.hpp"

namespace weft::comm {

// InvalidArgument names the argument and the remedy. Looks at values only, never through the pointers.
Status check(const Operation& operation, int rank, int size);
// The same without the buffers: for prepare() and explain().
Status check_call(const Operation& operation, int size);

// The buffers of this rank are the same memory by Operation's rules. Only for operations that passed check().
bool in_place(const Operation& operation, int rank);

}  // namespace weft::comm
