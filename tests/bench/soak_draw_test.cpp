// What --soak draws: equal calls from equal seeds, of what the arguments allow.
#include "bench/weft-bench/soak_draw.hpp"

#include <gmock/gmock.h>

#include <set>

#include "bench/weft-bench/soak.hpp"

namespace weft::bench {
namespace {

using ::testing::HasSubstr;

constexpr int kRanks = 3;
constexpr int kDraws = 2000;
constexpr std::uint64_t kSeed = 7;

Arguments everything() {
  Arguments arguments;
  arguments.task = Task::Soak;
  arguments.collectives = all_kinds();
  arguments.dtypes = all_of<DataType>(kDataTypes);
  arguments.ops = all_of<ReduceOp>(kReduceOps);
  arguments.max_bytes = 4096;
  return arguments;
}

std::vector<Case> drawn(std::uint64_t seed, const Arguments& arguments) {
  Draw draw(seed, arguments, kRanks);
  std::vector<Case> cases;
  for (int i = 0; i < kDraws; ++i) cases.push_back(draw.next());
  return cases;
}

TEST(Draw, every_kind_is_drawn_and_reduces_what_its_operator_takes) {
  std::set<std::string> kinds;
  for (const Case& what : drawn(kSeed, everything())) {
    kinds.insert(to_string(Kind{what.call.collective, what.uneven}));
    EXPECT_TRUE(!reduces(what.call.collective) || valid(what.call.dtype, what.call.op)) << name_of(what);
  }
  EXPECT_EQ(kinds.size(), all_kinds().size());
}

TEST(Draw, equal_seeds_draw_equal_calls) {
  const Arguments arguments = everything();
  const auto calls = [&](std::uint64_t seed) {
    std::vector<Operation> all;
    for (const Case& what : drawn(seed, arguments)) all.push_back(what.call);
    return all;
  };
  EXPECT_EQ(calls(kSeed), calls(kSeed));
  EXPECT_NE(calls(kSeed), calls(kSeed + 1));
}

TEST(Draw, only_what_is_named_is_drawn) {
  Arguments arguments = everything();
  arguments.collectives = {{Collective::AllToAll, true}, {Collective::Broadcast}};
  for (const Case& what : drawn(kSeed, arguments))
    EXPECT_TRUE(what.call.collective == Collective::Broadcast || what.uneven) << name_of(what);
}

TEST(Draw, where_no_operator_takes_a_type_nothing_is_reduced) {
  Arguments arguments = everything();
  arguments.dtypes = {DataType::Float32};
  arguments.ops = {ReduceOp::BitAnd};
  for (const Case& what : drawn(kSeed, arguments)) EXPECT_FALSE(reduces(what.call.collective)) << name_of(what);
  EXPECT_TRUE(check_soak(arguments).ok());
  arguments.collectives = {{Collective::AllReduce}, {Collective::ReduceScatter, true}};
  EXPECT_THAT(std::string(check_soak(arguments).message()), HasSubstr("nothing to soak"));
}

}  // namespace
}  // namespace weft::bench
