// Floats are put together from random bits, with exponents near that of 1.
#include "bench/weft-bench/hash.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/fnv1a.hpp"

namespace weft::bench {
namespace {

constexpr std::uint64_t kSeed = 0x5eed;

// SplitMix64's step: every bit of the result depends on every bit of the number.
std::uint64_t scrambled(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

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
  const std::uint64_t choice = scrambled(random);
  const auto exponent = static_cast<std::uint64_t>(format.bias - format.reach) +
                        choice % static_cast<std::uint64_t>(2 * format.reach + 1);
  const std::uint64_t sign_at = 8 * size_of(dtype) - 1;
  return (choice >> 63) << sign_at | exponent << format.mantissa_bits | mantissa;
}

}  // namespace

void write_unruly(std::span<std::byte> memory, DataType dtype, int rank) {
  const std::size_t element = size_of(dtype);
  const std::uint64_t stream = scrambled(kSeed ^ static_cast<std::uint64_t>(rank) << 32);
  for (std::size_t index = 0; (index + 1) * element <= memory.size(); ++index) {
    const std::uint64_t bits = bits_of(dtype, scrambled(stream + index));
    std::memcpy(memory.data() + index * element, &bits, element);  // the low bytes: little-endian
  }
}

Result<OutputHash> hash_of_output(Communicator& communicator, const Operation& call, std::uint64_t elements) {
  const int rank = communicator.rank();
  const int size = communicator.size();
  const std::size_t element = size_of(call.dtype);
  const std::size_t in_bytes = input_count(call, rank, size) * element;
  // The program's own buffer.
  if (in_bytes > 0) write_unruly({static_cast<std::byte*>(const_cast<void*>(call.in)), in_bytes}, call.dtype, rank);
  WEFT_TRY(communicator.run(call));

  const std::size_t out_bytes = std::min(output_count(call, rank, size), elements) * element;
  const std::uint64_t own = base::fnv1a({static_cast<const char*>(call.out), out_bytes});
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(size));
  WEFT_TRY(communicator.all_gather(&own, hashes.data(), 1, DataType::UInt64));
  const std::string_view all(reinterpret_cast<const char*>(hashes.data()), hashes.size() * sizeof(std::uint64_t));
  const bool equal = std::all_of(hashes.begin(), hashes.end(), [&](std::uint64_t hash) { return hash == hashes[0]; });
  return OutputHash{base::fnv1a(all), equal};
}

}  // namespace weft::bench
