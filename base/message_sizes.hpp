// Sizes of messages as people write and read them, and the bandwidth that they make: what programs print alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weft/status.hpp"
#include "weft/types.hpp"

namespace weft::base {

// Bytes: "8", "4k", "64M", "1GiB", where k, M, G and T mean 1024, its square and so on. InvalidArgument quotes what is
// wrong.
Result<std::uint64_t> parse_bytes(std::string_view text);
// "8 B", "4 KiB", "64 MiB", "1.50 GiB".
std::string format_bytes(std::uint64_t bytes);

// Bandwidth on the bus over that of the algorithm, as nccl-tests defines it: the share of the size that each rank's
// link carries.
double bus_factor(Collective collective, int ranks);

}  // namespace weft::base
