// ctest: serial programs
// Ranks that other launchers start find each other: Open MPI's and MPICH's mpirun, and the variables that torchrun
// sets.
#include <gmock/gmock.h>

#include "tests/support/bench.hpp"

namespace weft::test {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

bool exists(const std::string& name) { return run({"sh", "-c", "command -v " + name}).succeeded(); }

void expect_right(const BenchOutcome& outcome, int ranks) {
  ASSERT_TRUE(outcome.process.succeeded()) << outcome.process.output;
  EXPECT_EQ(outcome.wrong(), 0);
  for (const auto& result : outcome.results) EXPECT_EQ(result.at("ranks"), ranks);
}

TEST(Launchers, open_mpi_starts_four_ranks) {
  if (!exists("mpirun.openmpi")) GTEST_SKIP() << "Open MPI is not installed (openmpi-bin)";
  const auto outcome = run_bench(briefly({"all_reduce", "all_gather"}),
                                 {"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "4"});
  expect_right(outcome, 4);
  EXPECT_THAT(outcome.process.output, HasSubstr("started by openmpi"));
}

TEST(Launchers, mpich_starts_four_ranks) {
  if (!exists("mpirun.mpich")) GTEST_SKIP() << "MPICH is not installed (mpich)";
  const auto outcome = run_bench(briefly({"all_reduce", "all_gather"}), {"mpirun.mpich", "-n", "4"});
  expect_right(outcome, 4);
  EXPECT_THAT(outcome.process.output, HasSubstr("started by mpich"));
}

TEST(Launchers, n_under_mpirun_is_refused) {
  if (!exists("mpirun.openmpi")) GTEST_SKIP() << "Open MPI is not installed (openmpi-bin)";
  const auto outcome =
      run_bench({"all_reduce", "-n", "2"}, {"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2"});
  EXPECT_EQ(outcome.process.exit_code, 2);
  EXPECT_THAT(outcome.process.output, HasSubstr("-n starts ranks itself, but openmpi already started 2: leave -n out"));
}

TEST(Launchers, variables_of_torchrun_start_two_ranks) {
  const auto port = std::to_string(free_port());
  std::vector<Process> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    const Environment environment = {{"RANK", std::to_string(rank)},       {"WORLD_SIZE", "2"},
                                     {"LOCAL_RANK", std::to_string(rank)}, {"LOCAL_WORLD_SIZE", "2"},
                                     {"MASTER_ADDR", "127.0.0.1"},         {"MASTER_PORT", port}};
    ranks.push_back(
        Process::start({program("weft-bench"), "all_reduce", "--max-bytes", "64k", "--factor", "64"}, environment));
  }
  for (auto& rank : ranks) {
    const auto outcome = rank.wait(60s);
    EXPECT_TRUE(outcome.succeeded()) << outcome.output;
  }
  EXPECT_THAT(ranks[0].output(), HasSubstr("2 ranks, started by torchrun"));
  EXPECT_THAT(ranks[0].output(), HasSubstr("# Out of bounds values : 0 OK"));
}

}  // namespace
}  // namespace weft::test
