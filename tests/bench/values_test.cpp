// The numbers that weft-bench feeds to reductions are exact in every order, in the arithmetic of the type itself.
#include "bench/weft-bench/values.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace weft::bench {
namespace {

// `value` rounded to the precision of the type: what a reduction that stores every partial result would keep.
double rounded(DataType dtype, double value) {
  const auto keep_bits = [&](int bits) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
  };
  switch (dtype) {
    case DataType::Float16:
      return std::fabs(value) > 65504 ? std::numeric_limits<double>::infinity() : keep_bits(11);
    case DataType::Float8E4M3:
      return std::fabs(value) > 448 ? std::nan("") : keep_bits(4);
    case DataType::Float8E5M2:
      return std::fabs(value) > 57344 ? std::numeric_limits<double>::infinity() : keep_bits(3);
    case DataType::BFloat16:
      return keep_bits(8);
    case DataType::Float32:
      return static_cast<double>(static_cast<float>(value));
    default:
      return value;
  }
}

bool fits(DataType dtype, double value) {
  switch (dtype) {
    case DataType::Int8:
      return value >= -128 && value <= 127;
    case DataType::UInt8:
      return value >= 0 && value <= 255;
    case DataType::UInt32:
    case DataType::UInt64:
      return value >= 0;
    default:
      return true;
  }
}

bool is_arithmetic(ReduceOp op) { return op == ReduceOp::Sum || op == ReduceOp::Prod || op == ReduceOp::Avg; }

std::vector<double> contributions(DataType dtype, ReduceOp op, int ranks, std::uint64_t index) {
  std::vector<double> values;
  for (int rank = 0; rank < ranks; ++rank)
    values.push_back(static_cast<double>(contribution({dtype, op, ranks}, rank, index)));
  return values;
}

void expect_exact_in_any_order(DataType dtype, ReduceOp op, int ranks, std::mt19937& random) {
  for (std::uint64_t index = 0; index < 50; ++index) {
    auto values = contributions(dtype, op, ranks, index);
    std::shuffle(values.begin(), values.end(), random);
    double result = values[0];
    for (std::size_t i = 1; i < values.size(); ++i) {
      result = rounded(dtype, op == ReduceOp::Prod ? result * values[i] : result + values[i]);
      ASSERT_TRUE(fits(dtype, result)) << to_string(dtype) << " " << to_string(op) << ", " << ranks
                                       << " ranks: " << result;
    }
    if (op == ReduceOp::Avg) result /= ranks;
    ASSERT_EQ(result, static_cast<double>(reduced({dtype, op, ranks}, index)))
        << to_string(dtype) << " " << to_string(op) << ", " << ranks << " ranks, index " << index;
  }
}

TEST(Values, every_order_of_a_sum_product_or_average_is_exact_in_the_type) {
  std::mt19937 random(1);
  for (int type = 0; type < kDataTypes; ++type) {
    for (int operation = 0; operation < kReduceOps; ++operation) {
      const auto dtype = static_cast<DataType>(type);
      const auto op = static_cast<ReduceOp>(operation);
      if (dtype == DataType::Bool || !valid(dtype, op) || !is_arithmetic(op)) continue;
      for (const int ranks : {1, 2, 3, 4, 7, 8, 16, 100, 300, 1000})
        expect_exact_in_any_order(dtype, op, ranks, random);
    }
  }
}

TEST(Values, encoding_keeps_every_number) {
  for (int type = 0; type < kDataTypes; ++type) {
    const auto dtype = static_cast<DataType>(type);
    if (dtype == DataType::Bool) continue;
    for (const auto op : {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Min}) {
      for (std::uint64_t index = 0; index < 500; ++index) {
        std::array<std::byte, 8> element{};
        const auto number = contribution({dtype, op, 4}, 1, index);
        encode(dtype, number, element.data());
        ASSERT_EQ(decode(dtype, element.data()), static_cast<double>(number)) << to_string(dtype);
      }
    }
  }
}

TEST(Values, half_precision_matches_its_definition) {
  const std::vector<std::pair<std::int64_t, std::uint16_t>> known = {
      {0, 0x0000}, {1, 0x3c00}, {-1, 0xbc00}, {2, 0x4000}, {3, 0x4200}, {100, 0x5640}, {-2047, 0xe7ff}, {2048, 0x6800}};
  for (const auto& [number, bits] : known) {
    std::uint16_t element = 0;
    encode(DataType::Float16, number, reinterpret_cast<std::byte*>(&element));
    EXPECT_EQ(element, bits) << number;
    EXPECT_EQ(decode(DataType::Float16, reinterpret_cast<const std::byte*>(&element)), static_cast<double>(number));
  }
}

// A call that returned one rank's input instead of the reduction would have to be seen.
TEST(Values, a_reduction_differs_from_each_contribution) {
  for (int type = 0; type < kDataTypes; ++type) {
    for (int operation = 0; operation < kReduceOps; ++operation) {
      const auto dtype = static_cast<DataType>(type);
      const auto op = static_cast<ReduceOp>(operation);
      if (!valid(dtype, op)) continue;
      for (int rank = 0; rank < 4; ++rank) {
        int differing = 0;
        for (std::uint64_t index = 0; index < 100; ++index) {
          differing += contribution({dtype, op, 4}, rank, index) != reduced({dtype, op, 4}, index) ? 1 : 0;
        }
        EXPECT_GT(differing, 5) << to_string(dtype) << " " << to_string(op) << " rank " << rank;
      }
    }
  }
}

}  // namespace
}  // namespace weft::bench
