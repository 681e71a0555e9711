// The answers most algorithms give to "how many chunks?" and "can you serve this?".
#pragma once

#include <string_view>

#include "weft/schedule_builder.hpp"

namespace weft::algorithms {

constexpr int one_chunk(int) { return 1; }
constexpr int chunk_per_rank(int size) { return size; }
inline std::string_view serves_everything(const Group&, const Request&) { return {}; }

}  // namespace weft::algorithms
