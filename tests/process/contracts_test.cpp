// ctest: programs
// What a communicator promises to programs that fork, drop a Work, call from two threads, or poll.
#include <gmock/gmock.h>

#include "tests/support/process.hpp"

namespace weft::test {
namespace {

using namespace std::chrono_literals;

void expect_kept(const std::string& contract, const Environment& more = {}) {
  const auto rendezvous = "127.0.0.1:" + std::to_string(free_port());
  const auto second_port = std::to_string(free_port());
  std::vector<Process> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    Environment environment{{"WEFT_RANK", std::to_string(rank)},
                            {"WEFT_SIZE", "2"},
                            {"WEFT_RENDEZVOUS", rendezvous},
                            {"WEFT_TIMEOUT", "30"}};
    for (const auto& [name, value] : more) environment[name] = value;
    ranks.push_back(Process::start({program("contract_rank"), contract, second_port}, environment));
  }
  for (Process& rank : ranks) {
    const auto outcome = rank.wait(60s);
    EXPECT_TRUE(outcome.succeeded()) << outcome.output;
  }
}

TEST(Contracts, a_forked_child_is_refused_and_the_parent_goes_on) { expect_kept("fork"); }
TEST(Contracts, a_forked_child_is_refused_while_a_helper_thread_drives) {
  expect_kept("fork", {{"WEFT_PROGRESS_THREAD", "1"}});
}
TEST(Contracts, a_forked_child_is_refused_over_ucx) { expect_kept("fork", {{"WEFT_TRANSPORTS", "ucx"}}); }
TEST(Contracts, forked_children_make_a_communicator_of_their_own) { expect_kept("child"); }
TEST(Contracts, forked_children_of_ranks_over_ucx_are_told_why_they_cannot) {
  expect_kept("ucx-child", {{"WEFT_TRANSPORTS", "ucx"}});
}
TEST(Contracts, a_dropped_work_is_waited_for) { expect_kept("dropped"); }
TEST(Contracts, a_call_while_another_thread_waits_is_refused) { expect_kept("threads"); }
TEST(Contracts, operations_that_end_make_the_event_descriptor_readable) {
  expect_kept("events", {{"WEFT_PROGRESS_THREAD", "1"}});
}
TEST(Contracts, a_deadline_makes_the_event_descriptor_readable) {
  expect_kept("end", {{"WEFT_PROGRESS_THREAD", "1"}, {"WEFT_TIMEOUT", "1"}});
}
TEST(Contracts, without_a_helper_thread_there_is_no_event_descriptor) { expect_kept("no-events"); }

}  // namespace
}  // namespace weft::test
