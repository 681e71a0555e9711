// The loops of quantise.hpp over one block at a time, in floats that stay in the first cache, and the table of them.
// Included by the variants only, like element.hpp.
#pragma once

#include "comm/kernels/element.hpp"
#include "comm/kernels/quantise.hpp"
#include "comm/kernels/variants.hpp"

namespace weft::comm {
namespace {

constexpr std::size_t kBlock = kQuantisedBlock;
struct Floats {
  float at[kBlock];
};

inline bool is_finite(float value) { return (bits_as<std::uint32_t>(value) & 0x7fffffffU) < 0x7f800000U; }

struct Int8Code {
  static constexpr float kTop = 127;
  // To nearest even: the last place of 1.5 * 2^23 is one, so the sum's low byte is the integer in two's complement.
  static std::uint8_t encode(float scaled, float value) {
    constexpr float kLastPlaceIsOne = 12582912;
    const auto rounded = bits_as<std::uint32_t>(scaled + kLastPlaceIsOne);
    return static_cast<std::uint8_t>(is_finite(value) ? rounded : 0x80U);
  }
  static float decode(std::uint8_t code) {
    const auto value = static_cast<float>(static_cast<std::int8_t>(code));
    return code == 0x80 ? std::numeric_limits<float>::quiet_NaN() : value;
  }
};

struct E4M3Code {
  static constexpr float kTop = 448;
  static std::uint8_t encode(float scaled, float value) {
    const std::uint8_t code = Float8E4M3Format::encode(scaled);
    return is_finite(value) ? code : std::uint8_t{0x7f};
  }
  static float decode(std::uint8_t code) { return Float8E4M3Format::decode(code); }
};

// In bits, in whose order finite magnitudes are those of their numbers.
inline float largest_magnitude(const Floats& values) {
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const auto magnitude = static_cast<std::int32_t>(bits_as<std::uint32_t>(values.at[i]) & 0x7fffffffU);
    const std::int32_t finite = magnitude < 0x7f800000 ? magnitude : 0;
    largest = finite > largest ? finite : largest;
  }
  return bits_as<float>(static_cast<std::uint32_t>(largest));
}

// Quotients are at most one in size, so nothing overflows, and the largest element keeps its bits.
template <typename Code>
void pack_block(unsigned char* packed, const Floats& values) {
  const float largest = largest_magnitude(values);
  const float divisor = largest == 0 ? 1 : largest;
  std::uint8_t codes[kBlock];
  for (std::size_t i = 0; i < kBlock; ++i) codes[i] = Code::encode(values.at[i] / divisor * Code::kTop, values.at[i]);
  std::memcpy(packed, &largest, sizeof largest);
  std::memcpy(packed + sizeof largest, codes, kBlock);
}

template <typename Code>
void unpack_block(Floats& values, const unsigned char* packed) {
  float largest;
  std::uint8_t codes[kBlock];
  std::memcpy(&largest, packed, sizeof largest);
  std::memcpy(codes, packed + sizeof largest, kBlock);
  for (std::size_t i = 0; i < kBlock; ++i) values.at[i] = canonical(Code::decode(codes[i]) / Code::kTop * largest);
}

template <typename Format>
void load(Floats& values, const unsigned char* from, std::size_t count) {
  typename Format::Stored stored[kBlock] = {};
  std::memcpy(stored, from, count * sizeof(typename Format::Stored));
  for (std::size_t i = 0; i < kBlock; ++i) values.at[i] = Format::decode(stored[i]);
}

template <typename Format>
void store(unsigned char* to, const Floats& values, std::size_t count) {
  typename Format::Stored stored[kBlock];
  for (std::size_t i = 0; i < kBlock; ++i) stored[i] = Format::encode(values.at[i]);
  std::memcpy(to, stored, count * sizeof(typename Format::Stored));
}

template <typename Format, typename Code>
void pack(void* packed, std::size_t blocks, const void* values, std::size_t count) noexcept {
  auto* to = static_cast<unsigned char*>(packed);
  const auto* from = static_cast<const unsigned char*>(values);
  Floats floats;
  for (std::size_t block = 0; block < blocks; ++block, to += kPackedBlockBytes) {
    const std::size_t elements = count < kBlock ? count : kBlock;
    if (elements > 0) {
      load<Format>(floats, from, elements);
      pack_block<Code>(to, floats);
    } else {
      std::memset(to, 0, kPackedBlockBytes);
    }
    from += elements * sizeof(typename Format::Stored);
    count -= elements;
  }
}

template <typename Format, typename Code>
void unpack(void* values, const void* packed, std::size_t count) noexcept {
  auto* to = static_cast<unsigned char*>(values);
  const auto* from = static_cast<const unsigned char*>(packed);
  Floats floats;
  for (; count > 0; from += kPackedBlockBytes) {
    const std::size_t elements = count < kBlock ? count : kBlock;
    unpack_block<Code>(floats, from);
    store<Format>(to, floats, elements);
    to += elements * sizeof(typename Format::Stored);
    count -= elements;
  }
}

template <typename Code>
void sum_block(unsigned char* packed, const unsigned char* parts, std::size_t stride, const SumOrder& order) {
  Floats open[kMaxOpenSums];
  std::size_t height = 0;
  for (std::size_t value = 0; value < order.values; ++value, parts += stride) {
    unpack_block<Code>(open[height++], parts);
    for (std::uint8_t join = 0; join < order.joins[value]; ++join, --height) {
      Floats& left = open[height - 2];
      const Floats& right = open[height - 1];
      for (std::size_t i = 0; i < kBlock; ++i) left.at[i] = add(left.at[i], right.at[i]);
    }
  }
  if (order.divisor != 1) {
    for (std::size_t i = 0; i < kBlock; ++i) open[0].at[i] = canonical(open[0].at[i] / order.divisor);
  }
  pack_block<Code>(packed, open[0]);
}

template <typename Code>
void sum(void* packed, std::size_t blocks, const void* parts, std::size_t stride, const SumOrder& order) noexcept {
  auto* to = static_cast<unsigned char*>(packed);
  const auto* from = static_cast<const unsigned char*>(parts);
  for (std::size_t block = 0; block < blocks; ++block)
    sum_block<Code>(to + block * kPackedBlockBytes, from + block * kPackedBlockBytes, stride, order);
}

template <typename Format>
constexpr QuantiseRow quantise_row() {
  QuantiseRow row{};
  row[static_cast<std::size_t>(Quantisation::Int8)] = {&pack<Format, Int8Code>, &unpack<Format, Int8Code>,
                                                       &sum<Int8Code>};
  row[static_cast<std::size_t>(Quantisation::Float8E4M3)] = {&pack<Format, E4M3Code>, &unpack<Format, E4M3Code>,
                                                             &sum<E4M3Code>};
  return row;
}

constexpr QuantiseTable make_quantise_table() {
  QuantiseTable table{};
  table[static_cast<std::size_t>(DataType::Float32)] = quantise_row<Plain<float>>();
  table[static_cast<std::size_t>(DataType::Float16)] = quantise_row<Float16Format>();
  table[static_cast<std::size_t>(DataType::BFloat16)] = quantise_row<BFloat16Format>();
  return table;
}

}  // namespace
}  // namespace weft::comm
