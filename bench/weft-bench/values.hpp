// Numbers for a Pattern: for a type, an op and a number of ranks, what each rank contributes at an index, so that every
// order of reduction is exact. Numbers are integers in 64 bits, whatever the type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/types.hpp"

namespace weft::bench {

// SplitMix64's step: every bit of the result depends on every bit of the number.
std::uint64_t split_mix(std::uint64_t number);
// Same on all machines: SplitMix64 of the three.
std::uint64_t mix(std::uint64_t a, std::uint64_t b, std::uint64_t salt);

struct Reduction {
  DataType dtype = DataType::Float32;
  ReduceOp op = ReduceOp::Sum;
  int ranks = 1;
};
// What `rank` contributes at `index` (for Bool: 0 or 1).
std::int64_t contribution(const Reduction& what, int rank, std::uint64_t index);
// All ranks' contributions at `index`, reduced.
std::int64_t reduced(const Reduction& what, std::uint64_t index);

// The number as an element of the type; exact for every number the two functions above give.
void encode(DataType dtype, std::int64_t number, std::byte* element);
// The element as a number.
double decode(DataType dtype, const std::byte* element);

}  // namespace weft::bench
