// Unruly numbers: their sum and product depend on the order of the operands. They have all significant digits and mixed
// magnitudes, and are a function of rank and index only. Hashes of what came of them are kept: they never change.
#pragma once

#include <cstddef>
#include <span>

#include "weft/types.hpp"

namespace weft::bench {

// As many elements of the type as fit into `memory`, from index 0 on.
void write_unruly(std::span<std::byte> memory, DataType dtype, int rank);

}  // namespace weft::bench
