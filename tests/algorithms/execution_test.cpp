// Every algorithm really executed, with ranks interleaved at random and sends that read their source early or late.
#include <gtest/gtest.h>

#include "tests/algorithms/support/execution.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::algorithms {
namespace {

TEST(Execution, of_every_algorithm_gives_the_right_result_in_random_orders) {
  std::uint64_t seed = 1;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const int size : {1, 2, 3, 4, 5, 6, 7, 8, 13}) {
      for (int variant = 0; variant < 8; ++variant) {
        BuildOptions options;
        options.in_place = variant % 2 == 1;
        options.hoist_sends = variant / 2 % 2 == 0;
        options.fuse = variant % 3 != 2;
        options.replicas = variant >= 4 && algorithm->replicable ? 2 : 1;
        options.root = has_root(algorithm->collective) ? variant % size : 0;
        const Schedule schedule = build_schedule(*algorithm, flat_group(size), options);
        const auto chunks = static_cast<std::uint64_t>(schedule.chunks_per_block);
        // Fewer elements than chunks: some are empty.
        for (const std::uint64_t elements : {std::uint64_t{1}, chunks / 2, 3 * chunks + 1}) {
          for (const int slots : {0, 1, 3, -1}) {
            if (algorithm->collective == Collective::Barrier && elements != 1) continue;
            test::Execution execution(schedule, {elements, slots, ++seed});
            EXPECT_EQ(execution.run(), "")
                << to_string(algorithm->collective) << '/' << algorithm->name << " size " << size << " variant "
                << variant << " elements " << elements << " slots " << slots << " seed " << seed;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft::algorithms
