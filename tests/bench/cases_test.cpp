// Which calls the arguments ask for, in which order.
#include "bench/weft-bench/cases.hpp"

#include <gmock/gmock.h>

#include <string>

namespace weft::bench {
namespace {

using ::testing::ElementsAre;

Arguments of(std::vector<Kind> kinds) {
  Arguments arguments;
  arguments.collectives = std::move(kinds);
  arguments.min_bytes = 64;
  arguments.max_bytes = 128;
  return arguments;
}

// "all_reduce float32 sum 16 out"
std::vector<std::string> names(const Arguments& arguments) {
  std::vector<std::string> names;
  for (const Case& what : all_cases(arguments, 2)) {
    const Operation& call = what.call;
    std::string name = name_of(what) + " ";
    name.append(to_string(call.dtype)).append(" ").append(to_string(call.op)).append(" ");
    names.push_back(name + std::to_string(call.count) + (what.in_place ? " in" : " out"));
  }
  return names;
}

TEST(Cases, sizes_lie_within_places_within_operators_within_types) {
  Arguments arguments = of({{Collective::AllReduce}});
  arguments.dtypes = {DataType::Float32, DataType::Float64};
  arguments.ops = {ReduceOp::Sum, ReduceOp::Max};
  arguments.in_place = true;
  const auto all = names(arguments);
  ASSERT_EQ(all.size(), 16U);
  EXPECT_THAT(
      std::vector(all.begin(), all.begin() + 5),
      ElementsAre("all_reduce float32 sum 16 out", "all_reduce float32 sum 32 out", "all_reduce float32 sum 16 in",
                  "all_reduce float32 sum 32 in", "all_reduce float32 max 16 out"));
  EXPECT_EQ(all.back(), "all_reduce float64 max 16 in");
}

TEST(Cases, an_operator_that_does_not_take_a_type_is_left_out) {
  Arguments arguments = of({{Collective::AllReduce}});
  arguments.max_bytes = 64;
  arguments.dtypes = {DataType::Float32, DataType::Int32};
  arguments.ops = {ReduceOp::BitAnd};
  EXPECT_THAT(names(arguments), ElementsAre("all_reduce int32 bit_and 16 out"));
  arguments.dtypes = {DataType::Float32};
  EXPECT_FALSE(check_cases(arguments, 2).ok());
}

TEST(Cases, what_reduces_nothing_is_measured_once_whatever_operators_are_given) {
  Arguments arguments = of({{Collective::Broadcast}, {Collective::Barrier}});
  arguments.max_bytes = 64;
  arguments.ops = {ReduceOp::Sum, ReduceOp::Max};
  EXPECT_EQ(names(arguments).size(), 2U);
}

TEST(Cases, all_to_all_v_with_unequal_blocks_is_not_in_place) {
  Arguments arguments = of({{Collective::AllToAll, true}});
  arguments.max_bytes = 64;
  arguments.in_place = true;
  EXPECT_EQ(names(arguments).size(), 2U);
  arguments.skew = 2;
  EXPECT_EQ(names(arguments).size(), 1U);
  arguments.out_of_place = false;
  EXPECT_FALSE(check_cases(arguments, 2).ok());
}

}  // namespace
}  // namespace weft::bench
