// What a reduction of two elements must give, computed the slow way: integers by their values, 16-bit floats by
// arithmetic on exact doubles. Shares nothing with comm/kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "weft/types.hpp"

namespace weft::comm::reference {

// A binary floating-point format of 8 or 16 bits with `mantissa` stored bits of significand. Without infinities only
// the largest magnitude is a NaN, and the numbers below it reach into the largest exponent.
struct SmallFloat {
  int mantissa;
  int bias;
  int bits = 16;
  bool has_infinity = true;
  int exponent_bits() const { return bits - 1 - mantissa; }
  int largest_exponent_field() const { return (1 << exponent_bits()) - 1; }
  std::uint16_t sign() const { return static_cast<std::uint16_t>(1 << (bits - 1)); }
  std::uint16_t infinity() const { return static_cast<std::uint16_t>(largest_exponent_field() << mantissa); }
  std::uint16_t nan() const {
    return static_cast<std::uint16_t>(has_infinity ? infinity() | 1 << (mantissa - 1) : sign() - 1);
  }
};
inline constexpr SmallFloat kFloat16 = {10, 15};
inline constexpr SmallFloat kBFloat16 = {7, 127};
inline constexpr SmallFloat kFloat8E4M3 = {3, 7, 8, false};
inline constexpr SmallFloat kFloat8E5M2 = {2, 15, 8};

inline SmallFloat small_float(DataType dtype) {
  switch (dtype) {
    case DataType::Float8E4M3:
      return kFloat8E4M3;
    case DataType::Float8E5M2:
      return kFloat8E5M2;
    case DataType::Float16:
      return kFloat16;
    default:
      return kBFloat16;
  }
}

inline double decode(SmallFloat format, std::uint16_t bits) {
  const int field = bits >> format.mantissa & format.largest_exponent_field();
  const int fraction = bits & ((1 << format.mantissa) - 1);
  const double sign = bits & format.sign() ? -1.0 : 1.0;
  if (!format.has_infinity && (bits & ~format.sign()) == format.nan()) return std::numeric_limits<double>::quiet_NaN();
  if (format.has_infinity && field == format.largest_exponent_field())
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  const int implicit = field == 0 ? 0 : 1 << format.mantissa;
  return sign * std::ldexp(implicit + fraction, std::max(field, 1) - format.bias - format.mantissa);
}

inline std::uint16_t encode(SmallFloat format, double value) {
  if (std::isnan(value)) return format.nan();
  const std::uint16_t sign = std::signbit(value) ? format.sign() : 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return format.has_infinity ? sign | format.infinity() : format.nan();
  const int smallest_exponent = 1 - format.bias;
  int exponent = std::max(std::ilogb(magnitude), smallest_exponent);
  double significand = std::nearbyint(std::ldexp(magnitude, format.mantissa - exponent));  // ties to even
  if (significand == std::ldexp(1.0, format.mantissa + 1)) {
    significand /= 2;
    ++exponent;
  }
  const bool subnormal = significand < std::ldexp(1.0, format.mantissa);
  const int field = subnormal ? 0 : exponent + format.bias;
  const int fraction = static_cast<int>(significand) & ((1 << format.mantissa) - 1);
  const int encoded = field << format.mantissa | fraction;
  if (format.has_infinity && field >= format.largest_exponent_field()) return sign | format.infinity();
  if (!format.has_infinity && encoded >= format.nan()) return format.nan();
  return static_cast<std::uint16_t>(sign | encoded);
}

template <typename T>
T reduce_float(T a, T b, ReduceOp op, bool final, int size) {
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  if (std::isnan(a) || std::isnan(b)) return kNan;
  T result = 0;
  switch (op) {
    case ReduceOp::Sum:
      result = a + b;
      break;
    case ReduceOp::Avg:
      result = final ? (a + b) / static_cast<T>(size) : a + b;
      break;
    case ReduceOp::Prod:
      result = a * b;
      break;
    case ReduceOp::Min:
      result = a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b);
      break;
    case ReduceOp::Max:
      result = a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b);
      break;
    default:
      std::abort();
  }
  return std::isnan(result) ? kNan : result;
}

template <typename T>
T reduce_integer(T a, T b, ReduceOp op, bool final, int size) {
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  const auto left = static_cast<std::uint64_t>(a);  // modulo 2^64, of which 2^bits of T is a divisor
  const auto right = static_cast<std::uint64_t>(b);
  switch (op) {
    case ReduceOp::Sum:
      return static_cast<T>(left + right);
    case ReduceOp::Avg: {
      const T sum = static_cast<T>(left + right);
      return final ? static_cast<T>(static_cast<Wide>(sum) / static_cast<Wide>(size)) : sum;
    }
    case ReduceOp::Prod:
      return static_cast<T>(left * right);
    case ReduceOp::Min:
      return b < a ? b : a;
    case ReduceOp::Max:
      return a < b ? b : a;
    case ReduceOp::BitAnd:
      return static_cast<T>(left & right);
    case ReduceOp::BitOr:
      return static_cast<T>(left | right);
    case ReduceOp::BitXor:
      return static_cast<T>(left ^ right);
    case ReduceOp::PreMulSum:
    case ReduceOp::UserDefined:
      break;  // kernels of their own
  }
  std::abort();
}

inline std::uint8_t reduce_bool(std::uint8_t a, std::uint8_t b, ReduceOp op) {
  const bool left = a != 0;
  const bool right = b != 0;
  switch (op) {
    case ReduceOp::Sum:
    case ReduceOp::Max:
    case ReduceOp::BitOr:
      return left || right;
    case ReduceOp::Prod:
    case ReduceOp::Min:
    case ReduceOp::BitAnd:
      return left && right;
    case ReduceOp::BitXor:
      return left != right;
    case ReduceOp::Avg:
    case ReduceOp::PreMulSum:
    case ReduceOp::UserDefined:
      break;
  }
  std::abort();
}

inline std::uint16_t reduce_small(SmallFloat format, std::uint16_t a, std::uint16_t b, ReduceOp op, bool final,
                                  int size) {
  const auto left = static_cast<float>(decode(format, a));
  const auto right = static_cast<float>(decode(format, b));
  return encode(format, reduce_float(left, right, op, final, size));
}

// Reduces the elements at a and b into dst.
inline void reduce(DataType dtype, ReduceOp op, bool final, int size, void* dst, const void* a, const void* b) {
  const auto with = [=](auto zero, auto function) {
    auto left = zero;
    auto right = zero;
    std::memcpy(&left, a, sizeof left);
    std::memcpy(&right, b, sizeof right);
    const decltype(zero) result = function(left, right);
    std::memcpy(dst, &result, sizeof result);
  };
  const auto integer = [=](auto x, auto y) { return reduce_integer(x, y, op, final, size); };
  const auto floating = [=](auto x, auto y) { return reduce_float(x, y, op, final, size); };
  switch (dtype) {
    case DataType::Int8:
      return with(std::int8_t{}, integer);
    case DataType::UInt8:
      return with(std::uint8_t{}, integer);
    case DataType::Int32:
      return with(std::int32_t{}, integer);
    case DataType::UInt32:
      return with(std::uint32_t{}, integer);
    case DataType::Int64:
      return with(std::int64_t{}, integer);
    case DataType::UInt64:
      return with(std::uint64_t{}, integer);
    case DataType::Float32:
      return with(float{}, floating);
    case DataType::Float64:
      return with(double{}, floating);
    case DataType::Bool:
      return with(std::uint8_t{}, [=](std::uint8_t x, std::uint8_t y) { return reduce_bool(x, y, op); });
    case DataType::Float8E4M3:
    case DataType::Float8E5M2:
      return with(std::uint8_t{}, [=](std::uint8_t x, std::uint8_t y) {
        return static_cast<std::uint8_t>(reduce_small(small_float(dtype), x, y, op, final, size));
      });
    case DataType::Float16:
    case DataType::BFloat16: {
      const SmallFloat format = small_float(dtype);
      return with(std::uint16_t{},
                  [=](std::uint16_t x, std::uint16_t y) { return reduce_small(format, x, y, op, final, size); });
    }
  }
}

}  // namespace weft::comm::reference
