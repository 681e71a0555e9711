// ctest: serial programs
// A rank that is killed in the middle of a collective: the others return an error that names it, at once, and nothing
// is left over.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <set>

#include "tests/support/process.hpp"

namespace weft::test {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr int kRanks = 4;
constexpr int kVictim = 2;

// Without the trees that topo-probe, of another test, unpacks there.
std::set<std::string> shared_memory() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("weft-tree-")) names.insert(name);
  }
  return names;
}

std::vector<Process> start_ranks(const std::string& collective, const std::string& count, const std::string& transport,
                                 const std::string& timeout = "60") {
  const auto rendezvous = "127.0.0.1:" + std::to_string(free_port());
  std::vector<Process> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.push_back(Process::start({program("endless_rank"), collective, count}, {{"WEFT_RANK", std::to_string(rank)},
                                                                                  {"WEFT_SIZE", std::to_string(kRanks)},
                                                                                  {"WEFT_RENDEZVOUS", rendezvous},
                                                                                  {"WEFT_TRANSPORTS", transport},
                                                                                  {"WEFT_TIMEOUT", timeout}}));
  }
  return ranks;
}

void expect_others_name_the_victim(const std::string& collective, const std::string& count,
                                   const std::string& transport) {
  const auto before = shared_memory();
  auto ranks = start_ranks(collective, count, transport);
  for (auto& rank : ranks) ASSERT_TRUE(rank.wait_for_output("running", 60s)) << rank.output();
  ranks[kVictim].signal(SIGKILL);
  const auto killed = std::chrono::steady_clock::now();
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank == kVictim) continue;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(killed + 2s - std::chrono::steady_clock::now());
    const auto outcome = ranks[static_cast<std::size_t>(rank)].wait(std::max(left, 1ms));
    ASSERT_TRUE(outcome.in_time) << "rank " << rank << " still ran 2 s after rank " << kVictim
                                 << " was killed: " << outcome.output;
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("failed: peer lost, peer 2: "));
    EXPECT_THAT(outcome.output, HasSubstr("rank 2"));
  }
  EXPECT_TRUE(ranks[kVictim].wait(10s).in_time);
  EXPECT_EQ(shared_memory(), before);
}

TEST(LostRank, small_all_reduces_over_shared_memory) { expect_others_name_the_victim("all_reduce", "2", "shm"); }
TEST(LostRank, big_all_reduces_over_shared_memory) { expect_others_name_the_victim("all_reduce", "4000000", "shm"); }
TEST(LostRank, all_to_alls_over_shared_memory) { expect_others_name_the_victim("all_to_all", "5000", "shm"); }
TEST(LostRank, barriers_over_shared_memory) { expect_others_name_the_victim("barrier", "0", "shm"); }
TEST(LostRank, short_messages_over_shared_memory) { expect_others_name_the_victim("messages", "2", "shm"); }
TEST(LostRank, long_messages_over_shared_memory) { expect_others_name_the_victim("messages", "4000000", "shm"); }
TEST(LostRank, long_messages_over_ucx) { expect_others_name_the_victim("messages", "4000000", "ucx"); }
TEST(LostRank, small_all_reduces_over_ucx) { expect_others_name_the_victim("all_reduce", "2", "ucx"); }
TEST(LostRank, big_all_reduces_over_ucx) { expect_others_name_the_victim("all_reduce", "4000000", "ucx"); }

// Rank 0 holds the store.
TEST(LostRank, rank_0_may_be_the_one) {
  auto ranks = start_ranks("all_reduce", "1000", "shm");
  for (auto& rank : ranks) ASSERT_TRUE(rank.wait_for_output("running", 60s)) << rank.output();
  ranks[0].signal(SIGKILL);
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    const auto outcome = ranks[rank].wait(2s);
    ASSERT_TRUE(outcome.in_time);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("failed: peer lost, peer 0: "));
  }
}

// Its neighbours wait for it, and theirs for them; all must name the one that all the waiting is for.
TEST(LostRank, a_stopped_rank_is_the_one_that_the_timeout_names) {
  auto ranks = start_ranks("all_reduce", "1000", "shm", "2");
  for (auto& rank : ranks) ASSERT_TRUE(rank.wait_for_output("running", 60s)) << rank.output();
  ranks[kVictim].signal(SIGSTOP);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (rank == kVictim) continue;
    const auto outcome = ranks[rank].wait(20s);
    ASSERT_TRUE(outcome.in_time) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("failed: timeout, peer 2: ")) << "rank " << rank;
  }
}

}  // namespace
}  // namespace weft::test
