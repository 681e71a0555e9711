// The reduce kernels: dst[i] = a[i] op b[i] for every type and operator, chosen once when a plan is made.
//
// Every kernel is bitwise commutative: (a, b) and (b, a) give the same bits, on every instruction set. docs/numerics.md
// is the contract: one canonical NaN, -0 < +0 in min and max, integers wrap, Bool gives 0 or 1, float16 and bfloat16
// are computed in float and rounded to nearest even.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/types.hpp"

namespace weft::comm {

// `dst` equals `a`, equals `b`, or overlaps neither. No pointer need be aligned. `parameter` is the
// number of ranks, at least 1, which the final kernels of Avg read; of operators that a program made it is where that
// lies.
using ReduceKernel = void (*)(void* dst, const void* a, const void* b, std::size_t count,
                              std::intptr_t parameter) noexcept;

// `final`: this reduction completes the element, so Avg divides by `size`. Null unless valid(dtype, op).
ReduceKernel reduce_kernel(DataType dtype, ReduceOp op, bool final);

}  // namespace weft::comm
