// For each type and operator numbers small enough that no order of reduction rounds.
#include "bench/weft-bench/values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace weft::bench {
namespace {

constexpr int kMaxPowers = 6;           // factors of two in one product: 2^6 fits every type
constexpr std::int64_t kLargest = 100;  // of a single contribution

bool is_signed(DataType dtype) {
  switch (dtype) {
    case DataType::UInt8:
    case DataType::UInt32:
    case DataType::UInt64:
    case DataType::Bool:
      return false;
    default:
      return true;
  }
}

// Every integer up to here is an element of the type.
std::int64_t exact_limit(DataType dtype) {
  switch (dtype) {
    case DataType::Bool:
      return 1;
    case DataType::Int8:
      return 127;
    case DataType::UInt8:
      return 255;
    case DataType::Float8E5M2:
      return 8;
    case DataType::Float8E4M3:
      return 16;
    case DataType::BFloat16:
      return 256;
    case DataType::Float16:
      return 2048;
    default:
      return 1 << 24;
  }
}

// The largest size of a contribution of which every partial sum over the ranks is exact; 0 if there are more ranks than
// that.
std::int64_t sum_limit(DataType dtype, int ranks) { return std::min(exact_limit(dtype) / ranks, kLargest); }

std::int64_t in_range(std::uint64_t random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random % static_cast<std::uint64_t>(high - low + 1));
}

std::int64_t sum_value(DataType dtype, int ranks, int rank, std::uint64_t index) {
  const auto limit = sum_limit(dtype, ranks);
  if (limit > 0) return in_range(mix(static_cast<std::uint64_t>(rank), index, 1), is_signed(dtype) ? -limit : 0, limit);
  // Too many ranks for one each: every stride-th contributes 1.
  const auto stride = (static_cast<std::uint64_t>(ranks) + static_cast<std::uint64_t>(exact_limit(dtype)) - 1) /
                      static_cast<std::uint64_t>(exact_limit(dtype));
  return (static_cast<std::uint64_t>(rank) + index) % (stride + 1) == 0 ? 1 : 0;
}

// The same base on all ranks, plus and minus one number on two neighbours: the sum is ranks * base, and dividing it is
// exact.
std::int64_t average_value(DataType dtype, int ranks, int rank, std::uint64_t index) {
  const auto limit = sum_limit(dtype, ranks) / 2;
  const auto base = in_range(mix(0, index, 2), 0, limit);
  const bool paired = (rank ^ 1) < ranks;
  const auto delta =
      paired ? in_range(mix(static_cast<std::uint64_t>(rank / 2), index, 3), 0, is_signed(dtype) ? limit : base) : 0;
  return rank % 2 == 0 ? base + delta : base - delta;
}

// Two on at most kMaxPowers ranks, plus or minus one on the others.
std::int64_t product_value(DataType dtype, int ranks, int rank, std::uint64_t index) {
  const auto stride = static_cast<std::uint64_t>((ranks + kMaxPowers - 1) / kMaxPowers);
  const auto random = mix(static_cast<std::uint64_t>(rank), index, 4);
  const std::int64_t size = static_cast<std::uint64_t>(rank) % stride == index % stride && random % 4 != 0 ? 2 : 1;
  return is_signed(dtype) && (random & 16) != 0 ? -size : size;
}

std::int64_t bit_value(DataType dtype, ReduceOp op, int rank, std::uint64_t index) {
  const auto random = mix(static_cast<std::uint64_t>(rank), index, 5);
  const auto bit = std::uint64_t{1} << (random % (size_of(dtype) * 8));
  switch (op) {
    case ReduceOp::BitAnd:
      return static_cast<std::int64_t>(~bit);
    case ReduceOp::BitOr:
      return static_cast<std::int64_t>(bit);
    default:
      return static_cast<std::int64_t>(random);
  }
}

// Mostly the op's neutral value, so that the reduction is not the same everywhere.
std::int64_t bool_value(ReduceOp op, int ranks, int rank, std::uint64_t index) {
  const auto random = mix(static_cast<std::uint64_t>(rank), index, 6);
  if (op == ReduceOp::BitXor) return static_cast<std::int64_t>(random & 1);
  const bool neutral = random % static_cast<std::uint64_t>(ranks) != 0;
  const bool is_and = op == ReduceOp::Prod || op == ReduceOp::Min || op == ReduceOp::BitAnd;
  return is_and == neutral ? 1 : 0;
}

std::int64_t combine(DataType dtype, ReduceOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case ReduceOp::Sum:
      return dtype == DataType::Bool ? (a | b) : a + b;
    case ReduceOp::Avg:
      return a + b;
    case ReduceOp::Prod:
      return a * b;
    case ReduceOp::Min:
      return std::min(a, b);
    case ReduceOp::Max:
      return std::max(a, b);
    case ReduceOp::BitAnd:
      return a & b;
    case ReduceOp::BitOr:
      return a | b;
    case ReduceOp::BitXor:
      return a ^ b;
    case ReduceOp::PreMulSum:
    case ReduceOp::UserDefined:
      break;  // not among those that are measured
  }
  return 0;
}

// A binary floating-point format of few bits: one for the sign, `mantissa` stored ones of significand.
struct SmallFloat {
  int bits;
  int mantissa;
  int bias;
  bool has_infinity;
};
constexpr SmallFloat kFloat16 = {16, 10, 15, true};
constexpr SmallFloat kFloat8E4M3 = {8, 3, 7, false};
constexpr SmallFloat kFloat8E5M2 = {8, 2, 15, true};

// Of an integer that the format holds exactly.
std::uint16_t bits_of(const SmallFloat& format, std::int64_t number) {
  if (number == 0) return 0;
  const auto size = static_cast<std::uint64_t>(number < 0 ? -number : number);
  const int exponent = std::bit_width(size) - 1;
  const std::uint64_t fraction = (size << format.mantissa >> exponent) & ((1u << format.mantissa) - 1);
  return static_cast<std::uint16_t>((number < 0 ? 1u << (format.bits - 1) : 0u) |
                                    static_cast<unsigned>(exponent + format.bias) << format.mantissa | fraction);
}

double value_of(const SmallFloat& format, unsigned bits) {
  const int one = 1 << format.mantissa;
  const int largest = (1 << (format.bits - 1 - format.mantissa)) - 1;
  const int exponent = static_cast<int>(bits) >> format.mantissa & largest;
  const int fraction = static_cast<int>(bits) & (one - 1);
  const int implied = exponent == 0 ? 0 : one;
  double size = std::ldexp(implied + fraction, std::max(exponent, 1) - format.bias - format.mantissa);
  if (format.has_infinity && exponent == largest) size = fraction != 0 ? std::nan("") : HUGE_VAL;
  if (!format.has_infinity && exponent == largest && fraction == one - 1) size = std::nan("");
  return (bits >> (format.bits - 1) & 1) != 0 ? -size : size;
}

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void store(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof(T));
}

}  // namespace

std::uint64_t split_mix(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b, std::uint64_t salt) {
  return split_mix(split_mix((a << 40) ^ (b << 8) ^ salt));
}

std::int64_t contribution(const Reduction& what, int rank, std::uint64_t index) {
  const auto [dtype, op, ranks] = what;
  if (dtype == DataType::Bool) return bool_value(op, ranks, rank, index);
  switch (op) {
    case ReduceOp::Sum:
      return sum_value(dtype, ranks, rank, index);
    case ReduceOp::Avg:
      return average_value(dtype, ranks, rank, index);
    case ReduceOp::Prod:
      return product_value(dtype, ranks, rank, index);
    case ReduceOp::Min:
    case ReduceOp::Max: {
      const std::int64_t largest = std::min(kLargest, exact_limit(dtype));
      return in_range(mix(static_cast<std::uint64_t>(rank), index, 7), is_signed(dtype) ? -largest : 0, largest);
    }
    default:
      return bit_value(dtype, op, rank, index);
  }
}

std::int64_t reduced(const Reduction& what, std::uint64_t index) {
  auto value = contribution(what, 0, index);
  for (int rank = 1; rank < what.ranks; ++rank)
    value = combine(what.dtype, what.op, value, contribution(what, rank, index));
  return what.op == ReduceOp::Avg ? value / what.ranks : value;
}

void encode(DataType dtype, std::int64_t number, std::byte* element) {
  switch (dtype) {
    case DataType::Float16:
      return store(bits_of(kFloat16, number), element);
    case DataType::Float8E4M3:
      return store(static_cast<std::uint8_t>(bits_of(kFloat8E4M3, number)), element);
    case DataType::Float8E5M2:
      return store(static_cast<std::uint8_t>(bits_of(kFloat8E5M2, number)), element);
    case DataType::BFloat16:
      return store(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(number)) >> 16), element);
    case DataType::Float32:
      return store(static_cast<float>(number), element);
    case DataType::Float64:
      return store(static_cast<double>(number), element);
    default:
      std::memcpy(element, &number, size_of(dtype));  // little-endian: the low bytes come first
  }
}

double decode(DataType dtype, const std::byte* element) {
  switch (dtype) {
    case DataType::Int8:
      return load<std::int8_t>(element);
    case DataType::UInt8:
    case DataType::Bool:
      return load<std::uint8_t>(element);
    case DataType::Int32:
      return load<std::int32_t>(element);
    case DataType::UInt32:
      return load<std::uint32_t>(element);
    case DataType::Int64:
      return static_cast<double>(load<std::int64_t>(element));
    case DataType::UInt64:
      return static_cast<double>(load<std::uint64_t>(element));
    case DataType::Float16:
      return value_of(kFloat16, load<std::uint16_t>(element));
    case DataType::Float8E4M3:
      return value_of(kFloat8E4M3, load<std::uint8_t>(element));
    case DataType::Float8E5M2:
      return value_of(kFloat8E5M2, load<std::uint8_t>(element));
    case DataType::BFloat16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(load<std::uint16_t>(element)) << 16);
    case DataType::Float32:
      return load<float>(element);
    case DataType::Float64:
      return load<double>(element);
  }
  return 0;
}

}  // namespace weft::bench
