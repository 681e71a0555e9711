// The reduce kernels: dst[i] = a[i] op b[i] for every type and operator, chosen once when a plan is made.
//
// Every kernel is bitwise commutative: (a, b) and (b, a) give the same bits, on every instruction set. docs/numerics.md
// is the contract: one canonical NaN, -0 < +0 in min and max, integers wrap, Bool gives 0 or 1, float16 and bfloat16
// are computed in float and rounded to nearest even.
#pragma once

#include <cstddef>

#include "weft/types.hpp"

namespace weft::comm {

// `dst` equals `a`, equals `b`, or overlaps neither. No pointer need be aligned. `size`, the number of ranks, is read
// by the final kernels of Avg only and is at least 1.
using ReduceKernel = void (*)(void* dst, const void* a, const void* b, std::size_t count, int size) noexcept;

// `final`: this reduction completes the element, so Avg divides by `size`. Null unless valid(dtype, op).
ReduceKernel reduce_kernel(DataType dtype, ReduceOp op, bool final);

}  // namespace weft::comm
