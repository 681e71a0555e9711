// The 32-bit code of a call that travels in a message's signature: collective, type and operator, so that a receiver can name
// the call that a peer made.
#pragma once

#include <cstdint>
#include <string>

#include "weft/operation.hpp"

namespace weft::comm {

// Root and count are not in the code (they are hashed beside it); op only where the collective reduces.
std::uint32_t call_code(const Operation& operation);
// "all_reduce of float32, sum"; "an unknown call" for codes that call_code() does not make.
std::string describe_call_code(std::uint32_t code);

}  // namespace weft::comm
