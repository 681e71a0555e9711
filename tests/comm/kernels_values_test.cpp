// Facts of docs/numerics.md that a reader can check by hand, and the 16-bit floats value by value.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "comm/kernels/kernels.hpp"
#include "comm/kernels/variants.hpp"
#include "tests/comm/kernels_inputs.hpp"
#include "tests/comm/kernels_reference.hpp"

namespace weft::comm {
namespace {

template <typename T>
T one(DataType dtype, ReduceOp op, T a, T b, bool final = false, int size = 1) {
  T result{};
  reduce_kernel(dtype, op, final)(&result, &a, &b, 1, size);
  return result;
}

TEST(ReduceKernel, exists_for_the_valid_pairs_only) {
  for (int dtype = 0; dtype < kDataTypes; ++dtype)
    for (int op = 0; op < kReduceOps; ++op)
      for (const bool final : {false, true})
        EXPECT_EQ(reduce_kernel(static_cast<DataType>(dtype), static_cast<ReduceOp>(op), final) != nullptr,
                  valid(static_cast<DataType>(dtype), static_cast<ReduceOp>(op)));
  EXPECT_EQ(reduce_kernel(static_cast<DataType>(kDataTypes), ReduceOp::Sum, false), nullptr);
}

TEST(ReduceKernel, is_that_of_the_fastest_variant) {
  const KernelVariant best = kernel_variants().back();
  EXPECT_EQ(reduce_kernel(DataType::Float16, ReduceOp::Max, false),
            (*best.table)[static_cast<std::size_t>(DataType::Float16)][static_cast<std::size_t>(ReduceOp::Max)][0]);
  EXPECT_EQ(kernel_variants().front().name, "portable");
}

TEST(Numerics, one_nan_comes_out_whatever_went_in) {
  const float negative = std::bit_cast<float>(0xffc12345u);
  const float signalling = std::bit_cast<float>(0x7f800001u);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Min, ReduceOp::Max, ReduceOp::Avg})
    for (const float nan : {negative, signalling})
      for (const float other : {1.0f, infinity, negative, signalling}) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(one(DataType::Float32, op, nan, other)), 0x7fc00000u);
        EXPECT_EQ(std::bit_cast<std::uint32_t>(one(DataType::Float32, op, other, nan)), 0x7fc00000u);
      }
  EXPECT_EQ(std::bit_cast<std::uint32_t>(one(DataType::Float32, ReduceOp::Sum, infinity, -infinity)), 0x7fc00000u);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(one(DataType::Float32, ReduceOp::Prod, infinity, 0.0f)), 0x7fc00000u);
  EXPECT_EQ(one<std::uint16_t>(DataType::Float16, ReduceOp::Sum, 0x7c00, 0xfc00), 0x7e00);
  EXPECT_EQ(one<std::uint16_t>(DataType::BFloat16, ReduceOp::Sum, 0x7f80, 0xff80), 0x7fc0);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(one(DataType::Float64, ReduceOp::Max, 1.0, -std::nan("7"))),
            0x7ff8000000000000u);
}

TEST(Numerics, negative_zero_is_less_than_positive_zero) {
  for (const bool swapped : {false, true}) {
    const double a = swapped ? -0.0 : 0.0;
    const double b = -a;
    EXPECT_TRUE(std::signbit(one(DataType::Float64, ReduceOp::Min, a, b)));
    EXPECT_FALSE(std::signbit(one(DataType::Float64, ReduceOp::Max, a, b)));
    EXPECT_FALSE(std::signbit(one(DataType::Float64, ReduceOp::Sum, a, b)));
  }
  EXPECT_TRUE(std::signbit(one(DataType::Float64, ReduceOp::Sum, -0.0, -0.0)));
  EXPECT_FALSE(std::signbit(one(DataType::Float64, ReduceOp::Sum, 1.5, -1.5)));
}

TEST(Numerics, integers_wrap) {
  EXPECT_EQ(one<std::int8_t>(DataType::Int8, ReduceOp::Sum, 127, 1), -128);
  EXPECT_EQ(one<std::int32_t>(DataType::Int32, ReduceOp::Sum, std::numeric_limits<std::int32_t>::max(), 1),
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(one<std::int64_t>(DataType::Int64, ReduceOp::Prod, std::int64_t{1} << 62, 2),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(one<std::uint8_t>(DataType::UInt8, ReduceOp::Prod, 16, 17), 16);
}

TEST(Numerics, avg_divides_at_the_last_reduction_only) {
  EXPECT_EQ(one(DataType::Float32, ReduceOp::Avg, 5.0f, 7.0f, false, 3), 12.0f);
  EXPECT_EQ(one(DataType::Float32, ReduceOp::Avg, 5.0f, 7.0f, true, 3), 4.0f);
  EXPECT_EQ(one(DataType::Float32, ReduceOp::Avg, 1.0f, 1.0f, true, 3), 2.0f / 3.0f);
  EXPECT_EQ(one(DataType::Float64, ReduceOp::Avg, 1.0, 1.0, true, 7), 2.0 / 7.0);
  EXPECT_EQ(one<std::int32_t>(DataType::Int32, ReduceOp::Avg, -4, -3, true, 2), -3);  // towards zero
  EXPECT_EQ(one<std::int32_t>(DataType::Int32, ReduceOp::Avg, 4, 3, true, 2), 3);
  EXPECT_EQ(one<std::int8_t>(DataType::Int8, ReduceOp::Avg, 100, 100, true, 2), -28);  // the sum wraps first
  EXPECT_EQ(one<std::uint16_t>(DataType::Float16, ReduceOp::Avg, 0x3c00, 0x3c00, true, 3), 0x3955);  // 2/3
  EXPECT_EQ(one<std::uint16_t>(DataType::Float16, ReduceOp::Avg, 0x7bff, 0x7bff, true, 2),
            0x7bff);  // no overflow in float
}

template <typename T>
void expect_exact_quotients(DataType dtype) {
  SCOPED_TRACE(to_string(dtype));
  std::mt19937_64 random(test_seed());
  constexpr int kSizes[] = {1, 2, 3, 5, 7, 8, 127, 128, 255, 256, 4096, 16777217, std::numeric_limits<int>::max()};
  constexpr std::size_t kCount = 1024;
  std::vector<T> values(kCount);
  const std::vector<T> zeros(kCount);
  std::vector<T> got(kCount);
  for (const int size : kSizes) {
    // Multiples of the size and their neighbours, where a quotient that is rounded wrongly shows.
    for (std::size_t i = 0; i < kCount; ++i)
      values[i] = i % 4 == 0 ? static_cast<T>(random())
                             : static_cast<T>(random() * static_cast<std::uint64_t>(size) + i % 4 - 2);
    for (const KernelVariant& variant : kernel_variants()) {
      const auto kernel = (*variant.table)[static_cast<std::size_t>(dtype)][static_cast<std::size_t>(ReduceOp::Avg)][1];
      kernel(got.data(), values.data(), zeros.data(), kCount, size);
      for (std::size_t i = 0; i < kCount; ++i)
        ASSERT_EQ(got[i], reference::reduce_integer<T>(values[i], 0, ReduceOp::Avg, true, size))
            << variant.name << ": " << +values[i] << " / " << size;
    }
  }
}

TEST(Numerics, integer_avg_is_the_exact_quotient_for_any_size) {
  SCOPED_TRACE(replay());
  expect_exact_quotients<std::int8_t>(DataType::Int8);
  expect_exact_quotients<std::uint8_t>(DataType::UInt8);
  expect_exact_quotients<std::int32_t>(DataType::Int32);
  expect_exact_quotients<std::uint32_t>(DataType::UInt32);
  expect_exact_quotients<std::int64_t>(DataType::Int64);
  expect_exact_quotients<std::uint64_t>(DataType::UInt64);
}

TEST(Numerics, bool_is_0_or_1_even_if_an_input_is_another_byte) {
  for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Max, ReduceOp::BitOr})
    EXPECT_EQ(one<std::uint8_t>(DataType::Bool, op, 2, 4), 1);
  for (const ReduceOp op : {ReduceOp::Prod, ReduceOp::Min, ReduceOp::BitAnd})
    EXPECT_EQ(one<std::uint8_t>(DataType::Bool, op, 2, 4), 1);
  EXPECT_EQ(one<std::uint8_t>(DataType::Bool, ReduceOp::BitXor, 2, 4), 0);
  EXPECT_EQ(one<std::uint8_t>(DataType::Bool, ReduceOp::BitXor, 2, 0), 1);
}

class SmallFloats : public testing::TestWithParam<DataType> {
 protected:
  static constexpr std::size_t kValues = 65536;
  reference::SmallFloat format() const { return reference::small_float(GetParam()); }
  static std::vector<std::uint16_t> every_value() {
    std::vector<std::uint16_t> values(kValues);
    for (std::size_t i = 0; i < kValues; ++i) values[i] = static_cast<std::uint16_t>(i);
    return values;
  }
  std::vector<std::uint16_t> reduce_all(const KernelVariant& variant, ReduceOp op, const std::vector<std::uint16_t>& a,
                                        const std::vector<std::uint16_t>& b) const {
    std::vector<std::uint16_t> result(a.size());
    const auto& row = (*variant.table)[static_cast<std::size_t>(GetParam())];
    row[static_cast<std::size_t>(op)][0](result.data(), a.data(), b.data(), a.size(), 1);
    return result;
  }
};

// -0 and 1 change no number, so that what is seen is the way to float and back.
TEST_P(SmallFloats, all_65536_values_survive_the_way_to_float_and_back) {
  const std::vector<std::uint16_t> values = every_value();
  const std::vector<std::uint16_t> negative_zero(kValues, 0x8000);
  const std::vector<std::uint16_t> ones(kValues, reference::encode(format(), 1.0));
  for (const KernelVariant& variant : kernel_variants()) {
    const auto sums = reduce_all(variant, ReduceOp::Sum, values, negative_zero);
    const auto products = reduce_all(variant, ReduceOp::Prod, values, ones);
    for (std::size_t i = 0; i < kValues; ++i) {
      const bool nan = std::isnan(reference::decode(format(), values[i]));
      const std::uint16_t want = nan ? format().nan() : values[i];
      ASSERT_EQ(sums[i], want) << variant.name << " value " << i;
      ASSERT_EQ(products[i], want) << variant.name << " value " << i;
    }
  }
}

TEST_P(SmallFloats, all_values_with_random_partners_give_the_reference) {
  SCOPED_TRACE(replay());
  std::mt19937_64 random(test_seed());
  const std::vector<std::uint16_t> values = every_value();
  for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Min, ReduceOp::Max}) {
    std::vector<std::uint16_t> partners(kValues);
    for (auto& partner : partners) partner = static_cast<std::uint16_t>(random());
    for (const KernelVariant& variant : kernel_variants()) {
      const auto got = reduce_all(variant, op, values, partners);
      EXPECT_EQ(got, reduce_all(variant, op, partners, values)) << variant.name << " " << to_string(op) << " commuted";
      for (std::size_t i = 0; i < kValues; ++i)
        ASSERT_EQ(got[i], reference::reduce_small(format(), values[i], partners[i], op, false, 1))
            << variant.name << " " << to_string(op) << " of " << values[i] << " and " << partners[i];
    }
  }
}

// All pairs there are.
TEST(Float8, all_pairs_give_the_reference_and_commute) {
  for (const DataType dtype : {DataType::Float8E4M3, DataType::Float8E5M2}) {
    Bytes a, b;
    for (int left = 0; left < 256; ++left)
      for (int right = 0; right < 256; ++right) {
        a.push_back(static_cast<unsigned char>(left));
        b.push_back(static_cast<unsigned char>(right));
      }
    for (const KernelVariant& variant : kernel_variants())
      for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Min, ReduceOp::Max, ReduceOp::Avg}) {
        const ReduceKernel kernel = (*variant.table)[static_cast<std::size_t>(dtype)][static_cast<std::size_t>(op)][1];
        Bytes got(a.size()), swapped(a.size());
        kernel(got.data(), a.data(), b.data(), a.size(), 3);
        kernel(swapped.data(), b.data(), a.data(), a.size(), 3);
        EXPECT_EQ(got, swapped) << to_string(dtype) << " " << to_string(op) << " " << variant.name;
        for (std::size_t i = 0; i < a.size(); ++i)
          ASSERT_EQ(got[i], reference::reduce_small(reference::small_float(dtype), a[i], b[i], op, true, 3))
              << variant.name << " " << to_string(dtype) << " " << to_string(op) << " of " << int{a[i]} << " and "
              << int{b[i]};
      }
  }
}

TEST(Float8, beyond_the_largest_number_comes_what_the_format_has) {
  EXPECT_EQ(one<std::uint8_t>(DataType::Float8E4M3, ReduceOp::Sum, 0x7e, 0x58), 0x7e);  // 448 + 16: a tie, to even
  EXPECT_EQ(one<std::uint8_t>(DataType::Float8E4M3, ReduceOp::Sum, 0x7e, 0x59), 0x7f);  // 448 + 18
  EXPECT_EQ(one<std::uint8_t>(DataType::Float8E4M3, ReduceOp::Sum, 0xfe, 0xfe), 0x7f);
  EXPECT_EQ(one<std::uint8_t>(DataType::Float8E5M2, ReduceOp::Sum, 0x7b, 0x6c), 0x7c);  // 57344 + 4096: a tie, to even
  EXPECT_EQ(one<std::uint8_t>(DataType::Float8E5M2, ReduceOp::Sum, 0xfb, 0xfb), 0xfc);
  EXPECT_EQ(one<std::uint8_t>(DataType::Float8E5M2, ReduceOp::Sum, 0x7c, 0xfc), 0x7e);  // inf - inf
}

INSTANTIATE_TEST_SUITE_P(All, SmallFloats, testing::Values(DataType::Float16, DataType::BFloat16),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace weft::comm
