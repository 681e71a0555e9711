// What each operator means on one element. Written without branches, so that the compiler makes vectors of the loops.
//
// Included by the variants only, each compiled for another instruction set. The unnamed namespace gives each its own
// copy: were these ordinary inline functions, the linker could keep the AVX2 one for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace weft::comm {
namespace {

template <typename To, typename From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// How an element is stored and in which type it is computed.
template <typename T>
struct Plain {
  using Stored = T;
  using Computed = T;
  static Computed decode(Stored value) { return value; }
  static Stored encode(Computed value) { return value; }
};

struct BFloat16Format {
  using Stored = std::uint16_t;
  using Computed = float;
  static float decode(std::uint16_t half) { return bits_as<float>(static_cast<std::uint32_t>(half) << 16); }
  // To nearest even. The only NaN that gets here is the canonical one, whose low half is zero.
  static std::uint16_t encode(float value) {
    const auto bits = bits_as<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

struct Float16Format {
  using Stored = std::uint16_t;
  using Computed = float;

  // The exponent is re-biased by an addition; infinities need it twice, and subnormals are normalised by subtracting
  // the implicit one that the addition gave them. No float subnormal occurs, so a processor told to flush them gives
  // the same bits.
  static float decode(std::uint16_t half) {
    constexpr std::uint32_t kExponent = 0x7c00u << 13;
    constexpr std::uint32_t kRebias = (127u - 15u) << 23;
    const std::uint32_t shifted = (half & 0x7fffu) << 13;
    const std::uint32_t exponent = shifted & kExponent;
    const std::uint32_t normal = shifted + kRebias + (exponent == kExponent ? kRebias : 0u);
    const std::uint32_t subnormal =
        bits_as<std::uint32_t>(bits_as<float>(normal + (1u << 23)) - bits_as<float>(113u << 23));
    const std::uint32_t magnitude = exponent == 0 ? subnormal : normal;
    return bits_as<float>(magnitude | (half & 0x8000u) << 16);
  }

  // To nearest even. Subnormals are rounded by adding a number whose last place is float16's smallest subnormal.
  static std::uint16_t encode(float value) {
    constexpr std::uint32_t kInfinity = 0x7f800000;
    constexpr std::uint32_t kTooLarge = (127u + 16u) << 23;  // 65536
    constexpr std::uint32_t kSmallestNormal = (127u - 14u) << 23;
    constexpr std::uint32_t kLastPlace = (127u - 15u + 23u - 10u + 1u) << 23;
    constexpr std::uint32_t kRebias = static_cast<std::uint32_t>((15 - 127) * (1 << 23));
    const auto bits = bits_as<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fffffff;
    const std::uint32_t special = magnitude > kInfinity ? 0x7e00 : 0x7c00;
    const std::uint32_t subnormal =
        bits_as<std::uint32_t>(bits_as<float>(magnitude) + bits_as<float>(kLastPlace)) - kLastPlace;
    const std::uint32_t normal = (magnitude + kRebias + 0xfff + (magnitude >> 13 & 1)) >> 13;
    const std::uint32_t finite = magnitude < kSmallestNormal ? subnormal : normal;
    const std::uint32_t rounded = magnitude >= kTooLarge ? special : finite;
    return static_cast<std::uint16_t>(rounded | (bits >> 16 & 0x8000));
  }
};

// The 8-bit formats of the Open Compute Project: `kMantissa` bits of significand; E4M3 has neither infinities nor more
// than one NaN. As Float16Format, with other constants.
template <std::uint32_t kMantissa, bool kHasInfinity>
struct Float8Format {
  using Stored = std::uint8_t;
  using Computed = float;
  static constexpr std::uint32_t kShift = 23 - kMantissa;
  static constexpr std::uint32_t kBias = (1u << (6 - kMantissa)) - 1;
  static constexpr std::uint32_t kLargest = 0x7f;  // the largest magnitude: a NaN
  static constexpr std::uint32_t kInfinity = (0x7fu >> kMantissa) << kMantissa;
  static constexpr std::uint32_t kNan = kHasInfinity ? kInfinity | 1u << (kMantissa - 1) : kLargest;

  static float decode(std::uint8_t byte) {
    constexpr std::uint32_t kRebias = (127 - kBias) << 23;
    const std::uint32_t magnitude = byte & kLargest;
    const std::uint32_t special =
        kHasInfinity ? (magnitude >= kInfinity ? kRebias : 0u) : (magnitude == kLargest ? 0x7fc00000u : 0u);
    const std::uint32_t normal =
        kHasInfinity ? (magnitude << kShift) + kRebias + special : ((magnitude << kShift) + kRebias) | special;
    const std::uint32_t subnormal =
        bits_as<std::uint32_t>(bits_as<float>(normal + (1u << 23)) - bits_as<float>((128 - kBias) << 23));
    const std::uint32_t finite = magnitude >> kMantissa == 0 ? subnormal : normal;
    return bits_as<float>(finite | (byte & 0x80u) << 24);
  }

  static std::uint8_t encode(float value) {
    // What rounds to less than this fits: E5M2 goes to infinity from 61440 on by rounding up, E4M3 to NaN above 464.
    constexpr std::uint32_t kTooLarge = kHasInfinity ? (127u + 16u) << 23 : 0x43f00000u;  // 65536, 480
    constexpr std::uint32_t kSmallestNormal = (128 - kBias) << 23;
    constexpr std::uint32_t kLastPlace = (127 - kBias + 23 - kMantissa + 1) << 23;
    constexpr std::uint32_t kRebias = static_cast<std::uint32_t>((static_cast<int>(kBias) - 127) * (1 << 23));
    constexpr std::uint32_t kHalf = (1u << (kShift - 1)) - 1;
    const auto bits = bits_as<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fffffff;
    const std::uint32_t special = kHasInfinity && magnitude <= 0x7f800000 ? kInfinity : kNan;
    const std::uint32_t subnormal =
        bits_as<std::uint32_t>(bits_as<float>(magnitude) + bits_as<float>(kLastPlace)) - kLastPlace;
    const std::uint32_t normal = (magnitude + kRebias + kHalf + (magnitude >> kShift & 1)) >> kShift;
    const std::uint32_t finite = magnitude < kSmallestNormal ? subnormal : normal;
    const std::uint32_t rounded = magnitude >= kTooLarge ? special : finite;
    // The canonical NaN is positive.
    const std::uint32_t sign = !kHasInfinity && rounded == kNan ? 0 : bits >> 24 & 0x80;
    return static_cast<std::uint8_t>(rounded | sign);
  }
};
using Float8E4M3Format = Float8Format<3, false>;
using Float8E5M2Format = Float8Format<2, true>;

// Whatever NaN an operation makes, one comes out: else the bits would depend on the order of the operands.
template <typename T>
inline T canonical(T value) {
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  return value == value ? value : kNan;
}

// Integers wrap: computed unsigned, where wrapping is defined, and in int at least, to which small types are promoted.
template <typename T>
using Wrapping = std::make_unsigned_t<decltype(T{} + T{})>;

template <typename T>
inline T add(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return canonical(a + b);
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}

template <typename T>
inline T multiply(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return canonical(a * b);
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}

// The two comparisons differ in what they give for -0 and +0, of which "or" keeps the sign and "and" drops it; all
// other ordered operands make both give the same bits. NaN compares with nothing.
template <bool kLess, typename T>
inline T extreme(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
    const Bits one = bits_as<Bits>(kLess ? (a < b ? a : b) : (a > b ? a : b));
    const Bits other = bits_as<Bits>(kLess ? (b < a ? b : a) : (b > a ? b : a));
    const T ordered = bits_as<T>(kLess ? one | other : one & other);
    return __builtin_isunordered(a, b) ? kNan : ordered;
  } else {
    return kLess ? (a < b ? a : b) : (a > b ? a : b);
  }
}

struct Sum {
  template <typename T>
  T operator()(T a, T b) const {
    return add(a, b);
  }
};

struct Product {
  template <typename T>
  T operator()(T a, T b) const {
    return multiply(a, b);
  }
};

struct Minimum {
  template <typename T>
  T operator()(T a, T b) const {
    return extreme<true>(a, b);
  }
};

struct Maximum {
  template <typename T>
  T operator()(T a, T b) const {
    return extreme<false>(a, b);
  }
};

struct BitAnd {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

// The type in which a sum is divided by the number of ranks. Processors divide vectors of floating-point numbers only;
// a quotient of integers that are exact in the type, truncated, is the integer quotient, because rounding is monotone
// and the distance to the next integer, at least 1 / size, is more than half a last place.
template <typename T>
using Divided = std::conditional_t<std::is_floating_point_v<T> || sizeof(T) == 8, T,
                                   std::conditional_t<sizeof(T) == 1, float, double>>;

template <typename T>
class Mean {
 public:
  explicit Mean(int size) : size_(static_cast<Divided<T>>(size)) {}
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return canonical((a + b) / size_);
    else
      return static_cast<T>(static_cast<Divided<T>>(add(a, b)) / size_);
  }
  Divided<T> size() const { return size_; }

 private:
  Divided<T> size_;
};

// Any byte but 0 is true.
struct Either {
  std::uint8_t operator()(std::uint8_t a, std::uint8_t b) const { return (a | b) != 0; }
};
struct Both {
  std::uint8_t operator()(std::uint8_t a, std::uint8_t b) const { return (a != 0) & (b != 0); }
};
struct OneOf {
  std::uint8_t operator()(std::uint8_t a, std::uint8_t b) const { return (a != 0) ^ (b != 0); }
};

}  // namespace
}  // namespace weft::comm
