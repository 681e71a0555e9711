// What --tune and --regret read off contests, and the table that calls are then chosen by.
#include "bench/weft-bench/tune.hpp"

#include <gmock/gmock.h>

#include "bench/weft-bench/table_file.hpp"

namespace weft::bench {
namespace {

using algorithms::MeasuredCell;
using algorithms::MeasuredTable;
using ::testing::HasSubstr;

Contest contest(std::vector<Entrant> entrants, std::vector<double> pulses_us) {
  Contest result;
  result.call = all_reduce(256, DataType::Float32);
  result.bytes = 1024;
  result.entrants = std::move(entrants);
  result.pulses_us = std::move(pulses_us);
  return result;
}

TEST(Contest, rounds_with_a_slow_pulse_are_not_steady) {
  EXPECT_THAT(contest({}, {1.0, 1.3, 4.0, 1.1}).steady_rounds(), ::testing::ElementsAre(0, 1, 3));
}

TEST(Contest, times_are_compared_within_a_round) {
  // The machine is twice as slow in the second round, for both.
  const Contest two = contest({{"ring", 1, {10, 20, 10}}, {"direct", 1, {9, 18, 9}}}, {1, 1, 1});
  EXPECT_DOUBLE_EQ(two.relative_time(two.entrants[1], {0, 1, 2}), 0.9);
  EXPECT_DOUBLE_EQ(two.time_us(two.entrants[1]), 9);
}

TEST(Contest, the_rounds_share_the_time_of_an_algorithm) {
  Arguments arguments;
  for (const Task task : {Task::Tune, Task::Regret}) {
    arguments.task = task;
    for (const double time_budget_s : {0.024, 3.0}) {
      arguments.time_budget_s = time_budget_s;
      const ContestSettings settings = settings_of(arguments);
      EXPECT_GE(settings.rounds, 4);
      EXPECT_NEAR(settings.rounds * settings.budget_s, time_budget_s, 1e-9);
    }
  }
}

TEST(Tune, each_entrant_is_a_cell) {
  const Contest two = contest({{"ring", 1, {10, 10}}, {"direct", 2, {30}}}, {1, 1});
  EXPECT_THAT(cells_of({two}, 4),
              ::testing::ElementsAre(MeasuredCell{Collective::AllReduce, 4, 1024, "ring", 1, 10'000},
                                     MeasuredCell{Collective::AllReduce, 4, 1024, "direct", 2, 30'000}));
}

TEST(Tune, what_is_measured_again_replaces_what_was_known) {
  const MeasuredCell other = {Collective::AllReduce, 8, 1024, "ring", 1, 7};
  const MeasuredCell old = {Collective::AllReduce, 4, 64, "ring", 1, 7};
  const MeasuredCell fresh = {Collective::AllReduce, 4, 1024, "direct", 1, 5};
  const auto table = merged(MeasuredTable{"here", {other, old}}, "here", std::vector{fresh});
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(*table, (MeasuredTable{"here", {other, fresh}}));
}

TEST(Tune, tables_of_two_topologies_are_not_mixed) {
  const auto table = merged(MeasuredTable{"there", {{Collective::Broadcast, 2, 8, "direct", 1, 1}}}, "here",
                            std::vector<MeasuredCell>());
  EXPECT_EQ(table.status().code(), Code::InvalidArgument);
  EXPECT_THAT(std::string(table.status().message()), HasSubstr("another topology (there, this one is here)"));
}

TEST(Regret, is_nothing_where_the_best_was_chosen) {
  const Regret regret = *regret_of(contest({{"ring", 1, {5, 5, 5, 5}}, {"direct", 1, {6, 6, 6, 6}}}, {1, 1, 1, 1}), 4);
  EXPECT_EQ(regret.chosen, "ring@1");
  EXPECT_EQ(regret.best, "ring@1");
  EXPECT_EQ(regret.regret, 0);
}

TEST(Regret, is_how_much_longer_the_chosen_one_takes) {
  const Regret regret = *regret_of(contest({{"ring", 1, {6, 6, 6, 6}}, {"direct", 1, {5, 4, 5, 4}}}, {1, 1, 1, 1}), 4);
  EXPECT_EQ(regret.best, "direct@1");
  EXPECT_NEAR(regret.regret, 0.2, 1e-9);  // of the even rounds: 6 and 5
}

TEST(Regret, is_not_told_where_the_machine_was_never_steady) {
  EXPECT_FALSE(regret_of(contest({{"ring", 1, {5, 9}}}, {1, 3}), 4));
}

// In round 1 luck helped; rounds 0 and 2 judge it.
TEST(Regret, of_what_only_luck_made_best_is_none) {
  const Regret regret = *regret_of(contest({{"ring", 1, {5, 5, 5}}, {"direct", 1, {6, 3, 6}}}, {1, 1, 1}), 4);
  EXPECT_EQ(regret.best, "direct@1");
  EXPECT_EQ(regret.regret, 0);
}

}  // namespace
}  // namespace weft::bench
