// The loop, and the table of it for every type and operator. Included by the variants only, like element.hpp.
#pragma once

#include <array>

#include "comm/kernels/element.hpp"
#include "comm/kernels/variants.hpp"

// Promises that no iteration reads what an earlier one wrote. True where dst equals a or b, which the compiler's own
// check for overlap would send to a scalar loop.
#if defined(__clang__)
#define WEFT_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define WEFT_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

namespace weft::comm {
namespace {

// Elements are loaded and stored by memcpy: they need no alignment and may be of any type to the caller.
template <typename Format>
struct Loop {
  template <typename Op>
  static void run(void* dst, const void* a, const void* b, std::size_t count, Op op) {
    using Stored = typename Format::Stored;
    auto* out = static_cast<unsigned char*>(dst);
    const auto* left = static_cast<const unsigned char*>(a);
    const auto* right = static_cast<const unsigned char*>(b);
    WEFT_INDEPENDENT_ITERATIONS
    for (std::size_t i = 0; i < count; ++i) {
      Stored x;
      Stored y;
      std::memcpy(&x, left + i * sizeof(Stored), sizeof(Stored));
      std::memcpy(&y, right + i * sizeof(Stored), sizeof(Stored));
      const Stored result = Format::encode(op(Format::decode(x), Format::decode(y)));
      std::memcpy(out + i * sizeof(Stored), &result, sizeof(Stored));
    }
  }
};

template <typename Format, typename Op>
void reduce(void* dst, const void* a, const void* b, std::size_t count, [[maybe_unused]] std::intptr_t size) noexcept {
  if constexpr (std::is_constructible_v<Op, int>)
    Loop<Format>::run(dst, a, b, count, Op(static_cast<int>(size)));
  else
    Loop<Format>::run(dst, a, b, count, Op());
}

using KernelRow = KernelTable::value_type;

template <typename Format, typename Op>
constexpr void set(KernelRow& row, ReduceOp op) {
  row[static_cast<std::size_t>(op)] = {&reduce<Format, Op>, &reduce<Format, Op>};
}

template <typename Format>
constexpr KernelRow arithmetic() {
  KernelRow row{};
  set<Format, Sum>(row, ReduceOp::Sum);
  set<Format, Product>(row, ReduceOp::Prod);
  set<Format, Minimum>(row, ReduceOp::Min);
  set<Format, Maximum>(row, ReduceOp::Max);
  row[static_cast<std::size_t>(ReduceOp::Avg)] = {&reduce<Format, Sum>,
                                                  &reduce<Format, Mean<typename Format::Computed>>};
  return row;
}

template <typename T>
constexpr KernelRow integer() {
  KernelRow row = arithmetic<Plain<T>>();
  set<Plain<T>, BitAnd>(row, ReduceOp::BitAnd);
  set<Plain<T>, BitOr>(row, ReduceOp::BitOr);
  set<Plain<T>, BitXor>(row, ReduceOp::BitXor);
  return row;
}

constexpr KernelRow boolean() {
  using Byte = Plain<std::uint8_t>;
  KernelRow row{};
  for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Max, ReduceOp::BitOr}) set<Byte, Either>(row, op);
  for (const ReduceOp op : {ReduceOp::Prod, ReduceOp::Min, ReduceOp::BitAnd}) set<Byte, Both>(row, op);
  set<Byte, OneOf>(row, ReduceOp::BitXor);
  return row;
}

constexpr KernelTable make_table() {
  KernelTable table{};
  const auto at = [&table](DataType dtype) -> KernelRow& { return table[static_cast<std::size_t>(dtype)]; };
  at(DataType::Int8) = integer<std::int8_t>();
  at(DataType::UInt8) = integer<std::uint8_t>();
  at(DataType::Int32) = integer<std::int32_t>();
  at(DataType::UInt32) = integer<std::uint32_t>();
  at(DataType::Int64) = integer<std::int64_t>();
  at(DataType::UInt64) = integer<std::uint64_t>();
  at(DataType::Float8E4M3) = arithmetic<Float8E4M3Format>();
  at(DataType::Float8E5M2) = arithmetic<Float8E5M2Format>();
  at(DataType::Float16) = arithmetic<Float16Format>();
  at(DataType::BFloat16) = arithmetic<BFloat16Format>();
  at(DataType::Float32) = arithmetic<Plain<float>>();
  at(DataType::Float64) = arithmetic<Plain<double>>();
  at(DataType::Bool) = boolean();
  return table;
}

}  // namespace
}  // namespace weft::comm
