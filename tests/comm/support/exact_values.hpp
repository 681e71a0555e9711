// Inputs whose result is exact in any order of reduction, for every type and operator, and the expected outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weft/operation.hpp"

namespace weft::testing {

// Bytes of `count` elements of the operation's type.
using Buffer = std::vector<std::byte>;

// What rank `rank` of `size` gives to the operation, and what it must get. Without input (output) the buffer is empty.
Buffer input_of(const Operation& operation, int rank, int size);
Buffer expected_of(const Operation& operation, int rank, int size);

// "element 7 of 100 is 3, expected 5", or empty if the buffers are equal.
std::string first_difference(const Operation& operation, const Buffer& got, const Buffer& expected);

}  // namespace weft::testing
