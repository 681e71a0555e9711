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

// What a call is for: an operation that the program asked for, several short ones of a list, or symmetric memory.
enum class CallKind : std::uint8_t { Plain, OfList, Allocate, Free };

// The code of a call of another kind than Plain; of OfList, from that of its operation.
std::uint32_t code_of_kind(CallKind kind, std::uint32_t operation);
CallKind kind_of(std::uint32_t code);

// Collective, dtype, op, quantisation and `uneven` of a Plain code or one OfList; empty for anything else.
std::optional<Operation> decode_call(std::uint32_t code);

}  // namespace weft::comm
