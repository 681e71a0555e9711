// Floats are put together from random bits, with exponents near that of 1.
#include "bench/weft-bench/unruly.hpp"

#include <cstdint>
#include <cstring>

#include "bench/weft-bench/values.hpp"

namespace weft::bench {
namespace {

constexpr std::uint64_t kSeed = 0x5eed;

struct Format {
  int mantissa_bits;
  int bias;   // of the exponent
  int reach;  // exponents are up to so far from 0, so that the sum over many ranks is finite
};

// Of a type that is no float: no mantissa.
Format format_of(DataType dtype) {
  switch (dtype) {
    case DataType::Float64:
      return {52, 1023, 20};
    case DataType::Float32:
      return {23, 127, 12};
    case DataType::Float16:
      return {10, 15, 5};
    case DataType::BFloat16:
      return {7, 127, 6};
    case DataType::Float8E4M3:
      return {3, 7, 2};
    case DataType::Float8E5M2:
      return {2, 15, 4};
    default:
      return {0, 0, 0};
  }
}

std::uint64_t bits_of(DataType dtype, std::uint64_t random) {
  const Format format = format_of(dtype);
  if (format.mantissa_bits == 0) return dtype == DataType::Bool ? random & 1 : random;
  const auto mantissa = random & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  const std::uint64_t choice = split_mix(random);
  const auto exponent = static_cast<std::uint64_t>(format.bias - format.reach) +
                        choice % static_cast<std::uint64_t>(2 * format.reach + 1);
  const std::uint64_t sign_at = 8 * size_of(dtype) - 1;
  return (choice >> 63) << sign_at | exponent << format.mantissa_bits | mantissa;
}

}  // namespace

void write_unruly(std::span<std::byte> memory, DataType dtype, int rank) {
  const std::size_t element = size_of(dtype);
  const std::uint64_t stream = split_mix(kSeed ^ static_cast<std::uint64_t>(rank) << 32);
  for (std::size_t index = 0; (index + 1) * element <= memory.size(); ++index) {
    const std::uint64_t bits = bits_of(dtype, split_mix(stream + index));
    std::memcpy(memory.data() + index * element, &bits, element);  // the low bytes: little-endian
  }
}

}  // namespace weft::bench
