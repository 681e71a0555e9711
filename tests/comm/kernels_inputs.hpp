// Elements to feed the kernels with: those where formats have their corners, and random ones of every magnitude.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "weft/types.hpp"

namespace weft::comm {

using Bytes = std::vector<unsigned char>;

// WEFT_TEST_SEED replays a run; else every run has a new seed.
inline std::uint64_t test_seed() {
  static const std::uint64_t seed = [] {
    const char* text = std::getenv("WEFT_TEST_SEED");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device()();
  }();
  return seed;
}
inline std::string replay() { return "replay with WEFT_TEST_SEED=" + std::to_string(test_seed()); }

// The corners of a type as bit patterns, low bits first.
inline std::vector<std::uint64_t> corner_bits(DataType dtype) {
  switch (dtype) {
    case DataType::Float8E4M3:  // the last before NaN are 448, 416 and what is lost to NaN when they are added
      return {0x00, 0x80, 0x01, 0x81, 0x07, 0x87, 0x08, 0x88, 0x38,
              0xb8, 0x39, 0x44, 0x7e, 0xfe, 0x7d, 0x7f, 0xff, 0x58};
    case DataType::Float8E5M2:
      return {0x00, 0x80, 0x01, 0x81, 0x03, 0x83, 0x04, 0x84, 0x3c, 0xbc, 0x3d, 0x42,
              0x7b, 0xfb, 0x7a, 0x7c, 0xfc, 0x7e, 0xfe, 0x7d, 0xff, 0x7f, 0x68};
    case DataType::Float16:
      // +-0, subnormals, smallest normal, 1, 3, 65504, 65488, infinities, NaNs: canonical, negative, signalling, full
      // payload
      return {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x3c00, 0xbc00, 0x3c01, 0x4200,
              0x7bff, 0xfbff, 0x7bfe, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01, 0xfd55, 0x7fff, 0xffff, 0x1000};
    case DataType::BFloat16:
      return {0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x8080, 0x3f80, 0xbf80, 0x3f81, 0x4040,
              0x7f7f, 0xff7f, 0x7f7e, 0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7f81, 0xffa5, 0x7fff, 0xffff, 0x7300};
    case DataType::Float32:
      return {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
              0x3f800000, 0xbf800000, 0x3f800001, 0x40400000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
              0x7fc00000, 0xffc00000, 0x7f800001, 0xffa12345, 0x7fffffff, 0xffffffff};
    case DataType::Float64:
      return {0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff,
              0x800fffffffffffff, 0x0010000000000000, 0x8010000000000000, 0x3ff0000000000000, 0xbff0000000000000,
              0x3ff0000000000001, 0x4008000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
              0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000, 0x7ff0000000000001, 0xfff4123456789abc,
              0x7fffffffffffffff, 0xffffffffffffffff};
    case DataType::Bool:
      return {0, 1, 2, 0x80, 0xff};
    default: {
      const int bits = static_cast<int>(size_of(dtype)) * 8;
      const std::uint64_t top = std::uint64_t{1} << (bits - 1);
      return {
          0, 1, 2, 3, 7, 0x55, top - 2, top - 1, top, top + 1, top + top / 2, ~std::uint64_t{0} - 1, ~std::uint64_t{0}};
    }
  }
}

// `count` elements: one in eight a corner, the rest random bits, which for floats are random magnitudes.
inline Bytes random_elements(DataType dtype, std::size_t count, std::mt19937_64& random) {
  const std::size_t bytes = size_of(dtype);
  const std::vector<std::uint64_t> corners = corner_bits(dtype);
  Bytes elements(count * bytes);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t draw = random();
    const std::uint64_t bits = draw % 8 == 0 ? corners[(draw >> 8) % corners.size()] : random();
    std::memcpy(elements.data() + i * bytes, &bits, bytes);
  }
  return elements;
}

// All pairs of corners, as two arrays.
struct Pairs {
  Bytes a, b;
  std::size_t count = 0;
};
inline Pairs corner_pairs(DataType dtype) {
  const std::size_t bytes = size_of(dtype);
  Pairs pairs;
  for (const std::uint64_t left : corner_bits(dtype)) {
    for (const std::uint64_t right : corner_bits(dtype)) {
      pairs.a.insert(pairs.a.end(), reinterpret_cast<const unsigned char*>(&left),
                     reinterpret_cast<const unsigned char*>(&left) + bytes);
      pairs.b.insert(pairs.b.end(), reinterpret_cast<const unsigned char*>(&right),
                     reinterpret_cast<const unsigned char*>(&right) + bytes);
      ++pairs.count;
    }
  }
  return pairs;
}

}  // namespace weft::comm
