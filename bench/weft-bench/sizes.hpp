// Sizes as people write them: "8", "4k", "64M", "1G" are powers of 1024.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::bench {

// Empty for anything that is not a number with an optional suffix k, M, G or T (either case; "B" and "iB" may follow).
std::optional<std::uint64_t> parse_bytes(std::string_view text);
// "64M" where it is exact, else the number.
std::string format_bytes(std::uint64_t bytes);
// first, first * factor, ... up to and including last.
std::vector<std::uint64_t> sweep(std::uint64_t first, std::uint64_t last, int factor);

}  // namespace weft::bench
