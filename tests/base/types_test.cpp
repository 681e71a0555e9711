// The vocabulary: sizes, properties, names in both directions.
#include "weft/types.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/limits.hpp"

namespace weft {
namespace {

template <typename Enum>
std::set<Enum> all(int values) {
  std::set<Enum> result;
  for (int value = 0; value < values; ++value) result.insert(static_cast<Enum>(value));
  return result;
}

TEST(Types, size_of_each_type_is_that_of_its_c_type) {
  EXPECT_EQ(size_of(DataType::Int8), 1u);
  EXPECT_EQ(size_of(DataType::UInt8), 1u);
  EXPECT_EQ(size_of(DataType::Int32), 4u);
  EXPECT_EQ(size_of(DataType::UInt32), 4u);
  EXPECT_EQ(size_of(DataType::Int64), 8u);
  EXPECT_EQ(size_of(DataType::UInt64), 8u);
  EXPECT_EQ(size_of(DataType::Float8E4M3), 1u);
  EXPECT_EQ(size_of(DataType::Float8E5M2), 1u);
  EXPECT_EQ(size_of(DataType::Float16), 2u);
  EXPECT_EQ(size_of(DataType::BFloat16), 2u);
  EXPECT_EQ(size_of(DataType::Float32), 4u);
  EXPECT_EQ(size_of(DataType::Float64), 8u);
  EXPECT_EQ(size_of(DataType::Bool), 1u);
}

TEST(Types, three_collectives_reduce_and_four_have_a_root) {
  const std::set reducing = {Collective::AllReduce, Collective::ReduceScatter, Collective::Reduce};
  const std::set rooted = {Collective::Broadcast, Collective::Reduce, Collective::Gather, Collective::Scatter};
  for (const Collective collective : all<Collective>(kCollectives)) {
    EXPECT_EQ(reduces(collective), reducing.contains(collective)) << to_string(collective);
    EXPECT_EQ(has_root(collective), rooted.contains(collective)) << to_string(collective);
  }
}

TEST(Types, bit_operators_need_integers_and_avg_refuses_bool) {
  const std::set floats = {DataType::Float8E4M3, DataType::Float8E5M2, DataType::Float16,
                           DataType::BFloat16,   DataType::Float32,    DataType::Float64};
  for (const DataType dtype : all<DataType>(kDataTypes)) {
    for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Min, ReduceOp::Max})
      EXPECT_TRUE(valid(dtype, op)) << to_string(dtype) << " " << to_string(op);
    for (const ReduceOp op : {ReduceOp::BitAnd, ReduceOp::BitOr, ReduceOp::BitXor})
      EXPECT_EQ(valid(dtype, op), !floats.contains(dtype)) << to_string(dtype) << " " << to_string(op);
    EXPECT_EQ(valid(dtype, ReduceOp::Avg), dtype != DataType::Bool) << to_string(dtype);
  }
}

TEST(Types, values_outside_the_enumerations_are_invalid_but_print) {
  EXPECT_FALSE(valid(static_cast<DataType>(kDataTypes), ReduceOp::Sum));
  EXPECT_FALSE(valid(DataType::Int8, static_cast<ReduceOp>(kReduceOps)));
  EXPECT_EQ(to_string(static_cast<DataType>(200)), "unknown");
  EXPECT_EQ(to_string(static_cast<ReduceOp>(255)), "unknown");
  EXPECT_EQ(to_string(static_cast<Collective>(200)), "unknown");
}

TEST(Types, operators_of_programs_have_one_name) {
  EXPECT_EQ(to_string(static_cast<ReduceOp>(kFirstUserOp)), "user_defined");
  EXPECT_EQ(to_string(static_cast<ReduceOp>(kFirstUserOp + base::kOperatorHandles - 1)), "user_defined");
  EXPECT_EQ(to_string(static_cast<ReduceOp>(kFirstUserOp + base::kOperatorHandles)), "unknown");
}

TEST(Types, every_name_is_unique_and_parses_back) {
  std::set<std::string> names;
  for (const Collective collective : all<Collective>(kCollectives)) {
    EXPECT_EQ(parse_collective(to_string(collective)), collective);
    names.emplace(to_string(collective));
  }
  for (const DataType dtype : all<DataType>(kDataTypes)) {
    EXPECT_EQ(parse_data_type(to_string(dtype)), dtype);
    names.emplace(to_string(dtype));
  }
  for (const ReduceOp op : all<ReduceOp>(kReduceOps)) {
    EXPECT_EQ(parse_reduce_op(to_string(op)), op);
    names.emplace(to_string(op));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kCollectives + kDataTypes + kReduceOps));
}

TEST(Types, short_names_and_those_of_nccl_tests_parse) {
  EXPECT_EQ(parse_data_type("f32"), DataType::Float32);
  EXPECT_EQ(parse_data_type("float"), DataType::Float32);
  EXPECT_EQ(parse_data_type("double"), DataType::Float64);
  EXPECT_EQ(parse_data_type("f64"), DataType::Float64);
  EXPECT_EQ(parse_data_type("half"), DataType::Float16);
  EXPECT_EQ(parse_data_type("f16"), DataType::Float16);
  EXPECT_EQ(parse_data_type("bf16"), DataType::BFloat16);
  EXPECT_EQ(parse_data_type("f8e5m2"), DataType::Float8E5M2);
  EXPECT_EQ(parse_data_type("float8_e4m3fn"), DataType::Float8E4M3);
  EXPECT_EQ(parse_data_type("i8"), DataType::Int8);
  EXPECT_EQ(parse_data_type("u8"), DataType::UInt8);
  EXPECT_EQ(parse_data_type("i32"), DataType::Int32);
  EXPECT_EQ(parse_data_type("u32"), DataType::UInt32);
  EXPECT_EQ(parse_data_type("i64"), DataType::Int64);
  EXPECT_EQ(parse_data_type("u64"), DataType::UInt64);
  EXPECT_EQ(parse_collective("allreduce"), Collective::AllReduce);
  EXPECT_EQ(parse_collective("alltoall"), Collective::AllToAll);
  EXPECT_EQ(parse_reduce_op("band"), ReduceOp::BitAnd);
}

TEST(Types, quantisations_have_names_and_errors) {
  for (int i = 0; i < kQuantisations; ++i) {
    const auto quantisation = static_cast<Quantisation>(i);
    EXPECT_EQ(parse_quantisation(to_string(quantisation)), quantisation);
  }
  EXPECT_EQ(parse_quantisation("float8_e4m3"), Quantisation::Float8E4M3);
  EXPECT_EQ(parse_quantisation("int4"), std::nullopt);
  EXPECT_EQ(to_string(static_cast<Quantisation>(7)), "unknown");
  EXPECT_EQ(unit_error(Quantisation::None), 0);
  EXPECT_GT(unit_error(Quantisation::Int8), 1.0 / 254);
  EXPECT_GT(unit_error(Quantisation::Float8E4M3), 1.0 / 28);
}

TEST(Types, what_is_not_a_name_does_not_parse) {
  for (const char* text : {"", " ", "sum ", "Sum", "float3", "float322", "unknown", "all_reduce/ring"}) {
    EXPECT_EQ(parse_collective(text), std::nullopt) << text;
    EXPECT_EQ(parse_data_type(text), std::nullopt) << text;
    EXPECT_EQ(parse_reduce_op(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace weft
