// The 32-bit code of a call that travels in a message's signature: collective, type and operator, so that a receiver
// can name the call that a peer made.
#pragma once

#include <cstdint>
#include <optional>

#include "weft/operation.hpp"

namespace weft::comm {

// Root and count are not in the code (they are hashed beside it); the operator only where the collective reduces. A
// v-variant has a code of its own, and so has a quantised call.
std::uint32_t call_code(const Operation& operation);

// Collective, dtype, op, quantisation and `uneven` of a code; empty for anything that call_code() does not make.
std::optional<Operation> decode_call(std::uint32_t code);

}  // namespace weft::comm
