// ctest: serial programs
// The example of README.md runs, on one rank and on four.
#include <gmock/gmock.h>

#include "tests/support/process.hpp"

namespace weft::test {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST(Readme, example_runs_on_one_rank) {
  const auto outcome = run({program("readme_example")});
  EXPECT_TRUE(outcome.succeeded()) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("rank 0 of 1: 0"));
}

TEST(Readme, example_runs_on_four_ranks) {
  const auto rendezvous = "127.0.0.1:" + std::to_string(free_port());
  std::vector<Process> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    ranks.push_back(
        Process::start({program("readme_example")},
                       {{"WEFT_RANK", std::to_string(rank)}, {"WEFT_SIZE", "4"}, {"WEFT_RENDEZVOUS", rendezvous}}));
  }
  for (int rank = 0; rank < 4; ++rank) {
    const auto outcome = ranks[static_cast<std::size_t>(rank)].wait(30s);
    EXPECT_TRUE(outcome.succeeded()) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("rank " + std::to_string(rank) + " of 4: 6"));
  }
}

}  // namespace
}  // namespace weft::test
