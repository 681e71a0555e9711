// ctest: programs
// A thousand groups of eight processes: no descriptor, no thread, at most 16 KiB each, and what cost() says.
#include <gmock/gmock.h>

#include <iostream>

#include "tests/support/process.hpp"

namespace weft::test {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST(GroupCost, a_thousand_groups_take_no_descriptor_and_no_thread) {
  constexpr int kRanks = 8;
  const auto rendezvous = "127.0.0.1:" + std::to_string(free_port());
  std::vector<Process> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.push_back(Process::start({program("group_cost")}, {{"WEFT_RANK", std::to_string(rank)},
                                                             {"WEFT_SIZE", std::to_string(kRanks)},
                                                             {"WEFT_RENDEZVOUS", rendezvous},
                                                             {"WEFT_TRANSPORTS", "shm"},
                                                             {"WEFT_TIMEOUT", "60"}}));
  }
  for (Process& rank : ranks) {
    const auto outcome = rank.wait(120s);
    EXPECT_TRUE(outcome.succeeded()) << outcome.output;
    std::cout << outcome.output;
  }
  EXPECT_THAT(ranks[0].output(), HasSubstr("1000  made"));
}

}  // namespace
}  // namespace weft::test
