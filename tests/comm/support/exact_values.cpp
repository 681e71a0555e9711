#include "tests/comm/support/exact_values.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace weft::testing {
namespace {

// Small integers, so that every partial result is exact in every type (bfloat16 holds integers up to 256). Integers may
// wrap, which does not depend on the order either.
std::int64_t value(const Operation& operation, int rank, int size, std::uint64_t index) {
  const auto r = static_cast<std::int64_t>(rank);
  const auto i = static_cast<std::int64_t>(index % 1021);
  if (operation.dtype == DataType::Bool) return (r + i) % 3 == 0 ? 1 : 0;
  if (!reduces(operation.collective)) return (r * 31 + i * 7) % 100;
  switch (operation.op) {
    case ReduceOp::Sum:
      return (r * 5 + i * 3) % 7;
    case ReduceOp::Prod:
      return (r + i) % 3 == 0 ? 2 : 1;
    case ReduceOp::Min:
    case ReduceOp::Max:
      return (r * 5 + i * 3) % 11 + 1;
    case ReduceOp::Avg:
      return size * ((r + i) % 3);  // so that the mean is an integer
    default:
      return ((r + 1) * 37 + i) & 0x7f;
  }
}

std::int64_t combine(ReduceOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
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
    default:
      return a + b;
  }
}

std::int64_t reduced(const Operation& operation, int size, std::uint64_t index) {
  std::int64_t result = value(operation, 0, size, index);
  for (int rank = 1; rank < size; ++rank) result = combine(operation.op, result, value(operation, rank, size, index));
  if (operation.op == ReduceOp::Avg) return result / size;
  if (operation.dtype != DataType::Bool) return result;
  return operation.op == ReduceOp::BitXor ? result & 1 : result != 0;
}

std::uint16_t to_float16(std::int64_t integer) {
  if (integer == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(static_cast<double>(std::abs(integer)), &exponent);
  const auto mantissa = static_cast<std::uint32_t>(std::ldexp(fraction, 11)) & 0x3ff;
  return static_cast<std::uint16_t>((integer < 0 ? 0x8000u : 0u) | static_cast<std::uint32_t>(exponent + 14) << 10 |
                                    mantissa);
}

template <typename T>
void put(std::byte* at, T number) {
  std::memcpy(at, &number, sizeof number);
}

void store(DataType dtype, std::byte* at, std::int64_t number) {
  switch (dtype) {
    case DataType::Float32:
      return put(at, static_cast<float>(number));
    case DataType::Float64:
      return put(at, static_cast<double>(number));
    case DataType::Float16:
      return put(at, to_float16(number));
    case DataType::BFloat16:
      return put(at, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(number)) >> 16));
    default:
      break;
  }
  switch (size_of(dtype)) {
    case 1:
      return put(at, static_cast<std::uint8_t>(number));
    case 4:
      return put(at, static_cast<std::uint32_t>(number));
    default:
      return put(at, static_cast<std::uint64_t>(number));
  }
}

// Which rank's element is at `index` of `rank`'s output, for collectives that only move.
std::int64_t moved(const Operation& operation, int rank, int size, std::uint64_t index) {
  const auto block = static_cast<int>(index / operation.count);
  const std::uint64_t within = index % operation.count;
  switch (operation.collective) {
    case Collective::AllGather:
    case Collective::Gather:
      return value(operation, block, size, within);
    case Collective::AllToAll:
      return value(operation, block, size, operation.count * static_cast<std::uint64_t>(rank) + within);
    case Collective::Broadcast:
      return value(operation, operation.root, size, index);
    case Collective::Scatter:
      return value(operation, operation.root, size, operation.count * static_cast<std::uint64_t>(rank) + within);
    default:
      return 0;
  }
}

}  // namespace

Buffer input_of(const Operation& operation, int rank, int size) {
  const std::size_t element = size_of(operation.dtype);
  const std::uint64_t count = input_count(operation, rank, size);
  Buffer buffer(count * element);
  for (std::uint64_t i = 0; i < count; ++i)
    store(operation.dtype, &buffer[i * element], value(operation, rank, size, i));
  return buffer;
}

Buffer expected_of(const Operation& operation, int rank, int size) {
  const std::size_t element = size_of(operation.dtype);
  const std::uint64_t count = output_count(operation, rank, size);
  const std::uint64_t first =
      operation.collective == Collective::ReduceScatter ? operation.count * static_cast<std::uint64_t>(rank) : 0;
  Buffer buffer(count * element);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int64_t number =
        reduces(operation.collective) ? reduced(operation, size, first + i) : moved(operation, rank, size, i);
    store(operation.dtype, &buffer[i * element], number);
  }
  return buffer;
}

std::string first_difference(const Operation& operation, const Buffer& got, const Buffer& expected) {
  if (got.size() != expected.size()) return fmt::format("{} bytes, expected {}", got.size(), expected.size());
  const std::size_t element = size_of(operation.dtype);
  for (std::size_t at = 0; at < got.size(); at += element) {
    if (std::memcmp(&got[at], &expected[at], element) == 0) continue;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::memcpy(&a, &got[at], element);
    std::memcpy(&b, &expected[at], element);
    return fmt::format("element {} of {} has bits {:x}, expected {:x}", at / element, got.size() / element, a, b);
  }
  return {};
}

}  // namespace weft::testing
