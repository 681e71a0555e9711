// The sizes that are measured.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::bench {

// first, first * factor, ... up to and including last.
std::vector<std::uint64_t> sweep(std::uint64_t first, std::uint64_t last, int factor);

}  // namespace weft::bench
