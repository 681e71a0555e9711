// ctest: serial programs
// Ranks in C that are processes: they find each other by the launcher's variables, and miss one that ends.
#include <gmock/gmock.h>

#include "tests/support/process.hpp"

namespace weft::test {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

std::vector<Process> start(int size, const std::vector<std::string>& command) {
  const std::string meeting = "127.0.0.1:" + std::to_string(free_port());
  std::vector<Process> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.push_back(Process::start(command, {{"WEFT_RANK", std::to_string(rank)},
                                             {"WEFT_SIZE", std::to_string(size)},
                                             {"WEFT_RENDEZVOUS", meeting},
                                             {"WEFT_TRANSPORTS", "shm"}}));
  }
  return ranks;
}

TEST(Launched, three_ranks_in_c_compute_together) {
  auto ranks = start(3, {program("c_api_launched")});
  for (int rank = 0; rank < 3; ++rank) {
    const Outcome outcome = ranks[static_cast<std::size_t>(rank)].wait(60s);
    EXPECT_TRUE(outcome.succeeded()) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("rank " + std::to_string(rank) + " of 3, sum 3"));
  }
}

TEST(Launched, the_example_of_the_page_says_what_it_should) {
  auto ranks = start(2, {program("c_api_example")});
  for (int rank = 0; rank < 2; ++rank) {
    const Outcome outcome = ranks[static_cast<std::size_t>(rank)].wait(60s);
    EXPECT_TRUE(outcome.succeeded()) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("rank " + std::to_string(rank) + " of 2: 1"));
  }
}

TEST(Launched, without_a_launcher_there_is_one_rank) {
  const Outcome outcome = run({program("c_api_launched")});
  EXPECT_TRUE(outcome.succeeded()) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("rank 0 of 1, sum 0"));
}

TEST(Launched, half_a_launcher_is_named) {
  const Outcome outcome = run({program("c_api_launched")}, {{"WEFT_RANK", "0"}});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("weft_comm_init: "));
  EXPECT_THAT(outcome.output, HasSubstr("WEFT_SIZE"));
}

TEST(Launched, who_dies_is_named_to_those_who_block_and_those_who_wait) {
  for (const char* order : {"die", "wait"}) {
    auto ranks = start(3, {program("c_api_launched"), order});
    for (const std::size_t rank : {0, 2}) {
      const Outcome outcome = ranks[rank].wait(60s);
      EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
      EXPECT_THAT(outcome.output, HasSubstr("peer lost, peer 1: "));
      EXPECT_THAT(outcome.output, HasSubstr("rank 1 died"));
    }
  }
}

}  // namespace
}  // namespace weft::test
