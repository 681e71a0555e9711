// The kernels of quantised calls: numbers into packed blocks, packed blocks into numbers, and the sum of several ranks'
// packed blocks. Chosen once when a plan is made, like the reduce kernels; every instruction set gives the same bits.
//
// A packed block is kPackedBlockBytes: the largest magnitude m of its kQuantisedBlock elements as a float, infinities
// and NaN apart, then a byte c for each element. An element is m * value(c) / top:
//   Int8   value(c) is the signed byte, top 127; -128 is NaN
//   E4M3   value(c) is the OFP8 number, top 448; 0x7f is NaN
// To nearest, ties to even. What is not finite becomes NaN. A short block is filled up with zeros.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/types.hpp"

namespace weft::comm {

inline constexpr std::size_t kPackedBlockBytes = sizeof(float) + kQuantisedBlock;

// The order of a sum: the values are taken one after another, each onto a stack; joins[i] says how often the two on top
// are then added. Afterwards one is left, which is divided by `divisor`.
struct SumOrder {
  const std::uint8_t* joins = nullptr;
  std::size_t values = 0;
  float divisor = 1;
};
// Values of a sum that are on the stack at a time, at most: those of the canonical order of 2^22 ranks.
inline constexpr std::size_t kMaxOpenSums = 24;

struct QuantiseKernels {
  // `blocks` blocks, the first `count` elements of which are `values`; the others are zeros.
  void (*pack)(void* packed, std::size_t blocks, const void* values, std::size_t count) noexcept = nullptr;
  // The first `count` elements.
  void (*unpack)(void* values, const void* packed, std::size_t count) noexcept = nullptr;
  // packed = the sum, in float and by `order`, of the blocks at parts, parts + stride, ...
  void (*sum)(void* packed, std::size_t blocks, const void* parts, std::size_t stride,
              const SumOrder& order) noexcept = nullptr;
};

// Null pointers unless `dtype` is Float32, Float16 or BFloat16 and `quantisation` is not None.
QuantiseKernels quantise_kernels(DataType dtype, Quantisation quantisation);

}  // namespace weft::comm
