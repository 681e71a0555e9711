// The kernels of quantised calls: every variant gives the same bits, and they are those of slow arithmetic.
#include "comm/kernels/quantise.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "algorithms/canonical_order.hpp"
#include "bench/weft-bench/values.hpp"
#include "comm/kernels/variants.hpp"
#include "tests/comm/kernels_inputs.hpp"

namespace weft::comm {
namespace {

constexpr Quantisation kBoth[] = {Quantisation::Int8, Quantisation::Float8E4M3};
constexpr DataType kTypes[] = {DataType::Float32, DataType::Float16, DataType::BFloat16};

const QuantiseKernels& kernels_of(const KernelVariant& variant, DataType dtype, Quantisation quantisation) {
  return (*variant.quantise)[static_cast<std::size_t>(dtype)][static_cast<std::size_t>(quantisation)];
}

constexpr std::size_t blocks_of(std::size_t count) { return (count + kQuantisedBlock - 1) / kQuantisedBlock; }

Bytes packed(const QuantiseKernels& kernels, const Bytes& values, std::size_t count, std::size_t blocks) {
  Bytes result(blocks * kPackedBlockBytes, 0xcd);
  kernels.pack(result.data(), blocks, values.data(), count);
  return result;
}

float number_of(Quantisation quantisation, unsigned char code) {
  if (quantisation == Quantisation::Int8) {
    return code == 0x80 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(static_cast<signed char>(code));
  }
  std::byte byte{code};
  return static_cast<float>(bench::decode(DataType::Float8E4M3, &byte));
}
float top_of(Quantisation quantisation) { return quantisation == Quantisation::Int8 ? 127 : 448; }

// By trying all codes: the nearest, of two equally near ones that with an even last place; of zeros that with the sign.
unsigned char nearest_code(Quantisation quantisation, float scaled) {
  unsigned char best = 0;
  double distance = std::numeric_limits<double>::infinity();
  for (unsigned code = 0; code < 256; ++code) {
    const float number = number_of(quantisation, static_cast<unsigned char>(code));
    if (std::isnan(number)) continue;
    const double off = std::abs(static_cast<double>(number) - static_cast<double>(scaled));
    const bool even = quantisation == Quantisation::Int8 ? static_cast<int>(number) % 2 == 0 : code % 2 == 0;
    const bool same_sign = std::signbit(number) == std::signbit(scaled);
    if (off < distance || (off == distance && (number == 0 ? same_sign : even))) {
      distance = off;
      best = static_cast<unsigned char>(code);
    }
  }
  return best;
}

// Blocks of ordinary numbers, of corners, of zeros, and with some that are not finite.
Bytes mixed(DataType dtype, std::size_t count, std::mt19937_64& random) {
  Bytes values(count * size_of(dtype));
  const std::vector<std::uint64_t> corners = corner_bits(dtype);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t kind = i / kQuantisedBlock % 4;
    std::uint64_t bits = 0;
    if (kind == 0) bits = random();  // any bits: NaN and infinities among them
    if (kind == 1) bits = corners[random() % corners.size()];
    if (kind == 2) {
      const auto value = static_cast<float>(std::ldexp(static_cast<double>(random() >> 11) * 0x1p-53 - 0.5, 4));
      std::memcpy(&bits, &value, sizeof value);
      if (dtype == DataType::BFloat16) bits >>= 16;
      if (dtype == DataType::Float16) bits = (bits >> 16 & 0x8000) | 0x2000 | (bits >> 13 & 0x1fff);
    }
    std::memcpy(values.data() + i * size_of(dtype), &bits, size_of(dtype));
  }
  return values;
}

TEST(QuantiseKernels, variants_give_the_same_bits) {
  std::mt19937_64 random(test_seed());
  const std::span<const KernelVariant> variants = kernel_variants();
  for (const DataType dtype : kTypes) {
    for (const Quantisation quantisation : kBoth) {
      for (const std::size_t count : {1UL, 31UL, 256UL, 1300UL, 8192UL}) {
        const Bytes values = mixed(dtype, count, random);
        const std::size_t blocks = blocks_of(count);
        const QuantiseKernels& first = kernels_of(variants.front(), dtype, quantisation);
        const Bytes expected = packed(first, values, count, blocks);
        Bytes numbers(values.size());
        first.unpack(numbers.data(), expected.data(), count);
        for (const KernelVariant& variant : variants) {
          const QuantiseKernels& other = kernels_of(variant, dtype, quantisation);
          EXPECT_EQ(packed(other, values, count, blocks), expected) << variant.name << ", " << replay();
          Bytes unpacked(values.size());
          other.unpack(unpacked.data(), expected.data(), count);
          EXPECT_EQ(unpacked, numbers) << variant.name << ", " << replay();
        }
      }
    }
  }
}

TEST(QuantiseKernels, sums_of_all_variants_are_those_of_the_canonical_order) {
  std::mt19937_64 random(test_seed());
  constexpr std::size_t kBlocks = 5;
  for (const Quantisation quantisation : kBoth) {
    for (const int size : {1, 2, 3, 6, 7, 16, 33}) {
      const QuantiseKernels& plain = kernels_of(kernel_variants().front(), DataType::Float32, quantisation);
      std::vector<std::uint8_t> joins;
      Bytes parts;
      std::vector<std::vector<float>> open;
      for (int rank = 0; rank < size; ++rank) {
        const Bytes part = packed(plain, mixed(DataType::Float32, kBlocks * kQuantisedBlock, random),
                                  kBlocks * kQuantisedBlock, kBlocks);
        parts.insert(parts.end(), part.begin(), part.end());
        joins.push_back(static_cast<std::uint8_t>(algorithms::joins_after(rank, size)));
        open.emplace_back(kBlocks * kQuantisedBlock);
        plain.unpack(open.back().data(), part.data(), open.back().size());
        for (int join = 0; join < joins.back(); ++join) {
          std::vector<float>& left = open[open.size() - 2];
          for (std::size_t i = 0; i < left.size(); ++i) left[i] += open.back()[i];
          open.pop_back();
        }
      }
      ASSERT_EQ(open.size(), 1U);
      for (float& value : open.front()) value /= static_cast<float>(size);
      Bytes averages(open.front().size() * sizeof(float));
      std::memcpy(averages.data(), open.front().data(), averages.size());
      const Bytes expected = packed(plain, averages, open.front().size(), kBlocks);
      const SumOrder order{joins.data(), joins.size(), static_cast<float>(size)};
      for (const KernelVariant& variant : kernel_variants()) {
        Bytes result(expected.size());
        kernels_of(variant, DataType::Float32, quantisation)
            .sum(result.data(), kBlocks, parts.data(), kBlocks * kPackedBlockBytes, order);
        EXPECT_EQ(result, expected) << variant.name << " of " << size << ", " << replay();
      }
    }
  }
}

TEST(QuantiseKernels, elements_are_the_nearest_codes_and_what_they_stand_for) {
  std::mt19937_64 random(test_seed());
  constexpr std::size_t kCount = 16 * kQuantisedBlock;
  for (const Quantisation quantisation : kBoth) {
    const QuantiseKernels& kernels = kernels_of(kernel_variants().front(), DataType::Float32, quantisation);
    const Bytes bytes = mixed(DataType::Float32, kCount, random);
    std::vector<float> values(kCount), unpacked(kCount);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    const Bytes blocks = packed(kernels, bytes, kCount, blocks_of(kCount));
    kernels.unpack(unpacked.data(), blocks.data(), kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      const unsigned char* const block = blocks.data() + i / kQuantisedBlock * kPackedBlockBytes;
      float largest = 0;
      std::memcpy(&largest, block, sizeof largest);
      float most = 0;
      for (std::size_t j = i / kQuantisedBlock * kQuantisedBlock; j < (i / kQuantisedBlock + 1) * kQuantisedBlock; ++j)
        if (std::isfinite(values[j])) most = std::fmax(most, std::fabs(values[j]));
      ASSERT_EQ(largest, most) << replay();
      const unsigned char code = block[sizeof largest + i % kQuantisedBlock];
      if (!std::isfinite(values[i])) {
        const float nan = std::numeric_limits<float>::quiet_NaN();
        ASSERT_EQ(std::memcmp(&unpacked[i], &nan, sizeof nan), 0) << replay();
        continue;
      }
      const float scaled = most == 0 ? values[i] : values[i] / most * top_of(quantisation);
      const float number = number_of(quantisation, code);
      ASSERT_EQ(number, number_of(quantisation, nearest_code(quantisation, scaled))) << scaled << ", " << replay();
      ASSERT_EQ(unpacked[i], number / top_of(quantisation) * most) << replay();
      const double bound = unit_error(quantisation) * static_cast<double>(most) + 0x1p-148;
      ASSERT_LE(std::abs(static_cast<double>(unpacked[i]) - static_cast<double>(values[i])), bound) << replay();
    }
  }
}

TEST(QuantiseKernels, the_largest_element_keeps_its_bits) {
  for (const Quantisation quantisation : kBoth) {
    const QuantiseKernels& kernels = kernels_of(kernel_variants().back(), DataType::Float32, quantisation);
    for (const float value : {1e-45F, 1.1754944e-38F, -0.1F, 3.0F, 1e30F, -std::numeric_limits<float>::max()}) {
      Bytes bytes(3 * sizeof(float));
      std::memcpy(bytes.data() + sizeof(float), &value, sizeof value);
      float unpacked[3];
      kernels.unpack(unpacked, packed(kernels, bytes, 3, 1).data(), 3);
      EXPECT_EQ(unpacked[0], 0);
      EXPECT_EQ(unpacked[1], value);
    }
  }
}

TEST(QuantiseKernels, blocks_beyond_the_numbers_are_zeros_and_nothing_else_is_written) {
  for (const Quantisation quantisation : kBoth) {
    const QuantiseKernels& kernels = kernels_of(kernel_variants().back(), DataType::Float32, quantisation);
    std::vector<float> values(300, 7);
    Bytes bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    const Bytes blocks = packed(kernels, bytes, values.size(), 4);
    EXPECT_EQ(Bytes(blocks.begin() + 2 * kPackedBlockBytes, blocks.end()), Bytes(2 * kPackedBlockBytes));
    std::vector<float> unpacked(301, -1);
    kernels.unpack(unpacked.data(), blocks.data(), 300);
    values.push_back(-1);
    EXPECT_EQ(unpacked, values);
  }
}

}  // namespace
}  // namespace weft::comm
