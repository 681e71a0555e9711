// weft-bench's numbers where something is reduced, and who gets whose elements where not.
#include "tests/comm/support/exact_values.hpp"

#include <fmt/format.h>

#include <cstring>

#include "bench/weft-bench/values.hpp"

namespace weft::testing {
namespace {

constexpr std::uint64_t kPeriod = 1021;  // a prime: blocks in each other's place differ

// What the rank has at `index`: exact in any order of reduction, as weft-bench has it; or where nothing is reduced, any
// small number.
std::int64_t value(const Operation& operation, int rank, int size, std::uint64_t index) {
  const std::uint64_t i = index % kPeriod;
  if (reduces(operation.collective)) return bench::contribution({operation.dtype, operation.op, size}, rank, i);
  const auto number = static_cast<std::int64_t>((static_cast<std::uint64_t>(rank) * 31 + i * 7) % 100);
  if (operation.dtype == DataType::Bool) return number % 3 / 2;
  const bool tiny = operation.dtype == DataType::Float8E4M3 || operation.dtype == DataType::Float8E5M2;
  return tiny ? number % 9 : number;
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
    bench::encode(operation.dtype, value(operation, rank, size, i), &buffer[i * element]);
  return buffer;
}

Buffer expected_of(const Operation& operation, int rank, int size) {
  const std::size_t element = size_of(operation.dtype);
  const std::uint64_t count = output_count(operation, rank, size);
  const std::uint64_t first =
      operation.collective == Collective::ReduceScatter ? operation.count * static_cast<std::uint64_t>(rank) : 0;
  Buffer buffer(count * element);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int64_t number = reduces(operation.collective)
                                    ? bench::reduced({operation.dtype, operation.op, size}, (first + i) % kPeriod)
                                    : moved(operation, rank, size, i);
    bench::encode(operation.dtype, number, &buffer[i * element]);
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
