// Which operands change places, for all algorithms that keep to the order of Numerics::Invariant.
#include "algorithms/operand_order.hpp"

#include <gtest/gtest.h>

#include <string>

#include "algorithms/machine.hpp"
#include "algorithms/verify.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::algorithms {
namespace {

// 0 and 1 exchange: rank 1 gets the lower rank's value as a message, so its operands change places.
TEST(OperandOrder, of_two_ranks_that_exchange_the_higher_one_swaps) {
  const Algorithm* const algorithm = find_algorithm(Collective::AllReduce, "recursive_doubling");
  ASSERT_NE(algorithm, nullptr);
  const Schedule schedule = build_schedule(*algorithm, flat_group(2), {.canonical = true});
  for (const int rank : {0, 1}) {
    const auto swapped = swapped_operands(schedule, rank);
    ASSERT_TRUE(swapped.has_value()) << swapped.status().to_string();
    int swaps = 0;
    for (const bool swap : swapped->front()) swaps += swap ? 1 : 0;
    EXPECT_EQ(swaps, rank);
  }
}

TEST(OperandOrder, no_algorithm_would_have_to_swap_half_a_step) {
  int schedules = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (!algorithm->invariant) continue;
    for (const int size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 33}) {
      for (const int root : {0, size - 1}) {
        if (root > 0 && !has_root(algorithm->collective)) continue;
        const Schedule schedule = build_schedule(*algorithm, flat_group(size), {.root = root, .canonical = true});
        for (int rank = 0; rank < size; ++rank) {
          const auto swapped = swapped_operands(schedule, rank);
          ASSERT_TRUE(swapped.has_value())
              << algorithm->name << " over " << size << ": " << swapped.status().to_string();
          const auto& channels = schedule.ranks[static_cast<std::size_t>(rank)].channels;
          ASSERT_EQ(swapped->size(), channels.size());
          for (std::size_t channel = 0; channel < channels.size(); ++channel) {
            ASSERT_EQ((*swapped)[channel].size(), channels[channel].size());
            for (std::size_t step = 0; step < channels[channel].size(); ++step) {
              const StepKind kind = channels[channel][step].kind;
              const bool reduces_here =
                  kind == StepKind::Reduce || kind == StepKind::RecvReduce || kind == StepKind::RecvReduceSend;
              EXPECT_TRUE(reduces_here || !(*swapped)[channel][step]);
            }
          }
        }
        ++schedules;
      }
    }
  }
  EXPECT_GT(schedules, 50);
}

}  // namespace
}  // namespace weft::algorithms
