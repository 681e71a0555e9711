// The real launchers: ranks that mpirun or mpiexec started find each other and meet at the store.
//
// The ranks are this program started again with a filter for the DISABLED_ test below.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "transports/store/store.hpp"

namespace weft::transports {
namespace {

using ::testing::HasSubstr;

constexpr int kLongMs = 60'000;

// Prints a line for each rank that met all others.
TEST(StoreLaunchRank, DISABLED_meets_the_others) {
  const auto options = Options::from_environment();
  ASSERT_TRUE(options.has_value()) << options.error().to_string();
  const auto again = Options::from_environment();
  ASSERT_TRUE(again.has_value()) << again.error().to_string();
  EXPECT_EQ(again->job_id, options->job_id);
  auto store = connect_store(*options);
  ASSERT_TRUE(store.has_value()) << store.error().to_string();
  ASSERT_TRUE((*store)->set("rank/" + std::to_string(options->rank), "here").ok());
  for (int rank = 0; rank < options->size; ++rank) {
    ASSERT_EQ((*store)->get("rank/" + std::to_string(rank), kLongMs).value(), "here");
  }
  std::printf("met: %s rank %d of %d\n", options->source.c_str(), options->rank, options->size);
}

std::string own_path() {
  std::array<char, 4096> path{};
  EXPECT_GT(::readlink("/proc/self/exe", path.data(), path.size() - 1), 0);
  return path.data();
}

bool installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

struct Outcome {
  int status = -1;
  std::string output;
};

// `launcher` with its arguments, bounded by timeout(1).
Outcome launch(const std::string& launcher) {
  const std::string command =
      "timeout -k 5 90 " + launcher + " " + own_path() +
      " --gtest_also_run_disabled_tests --gtest_filter=StoreLaunchRank.DISABLED_meets_the_others 2>&1";
  Outcome outcome;
  FILE* const pipe = ::popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::array<char, 4096> piece{};
  for (std::size_t got = 0; (got = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    outcome.output.append(piece.data(), got);
  outcome.status = ::pclose(pipe);
  return outcome;
}

void expect_all_met(const Outcome& outcome, const std::string& source, int size) {
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  for (int rank = 0; rank < size; ++rank) {
    EXPECT_THAT(outcome.output,
                HasSubstr("met: " + source + " rank " + std::to_string(rank) + " of " + std::to_string(size)));
  }
}

TEST(StoreLaunch, ranks_of_open_mpi_meet) {
  if (!installed("mpirun.openmpi")) GTEST_SKIP() << "Open MPI is not installed (openmpi-bin)";
  expect_all_met(launch("mpirun.openmpi --allow-run-as-root --oversubscribe -n 3"), "openmpi", 3);
}

TEST(StoreLaunch, ranks_of_mpich_meet) {
  if (!installed("mpirun.mpich")) GTEST_SKIP() << "MPICH is not installed (mpich)";
  expect_all_met(launch("mpirun.mpich -n 3"), "mpich", 3);
}

TEST(StoreLaunch, ranks_of_a_shell_loop_meet) {
  const std::string script = "bash -c 'for r in 0 1 2; do WEFT_RANK=$r \"$@\" & done; wait' rank";
  // A port that nobody else is likely to want: tests of other processes ask the system for theirs.
  const std::string port = std::to_string(20'000 + ::getpid() % 10'000);
  expect_all_met(launch("env WEFT_SIZE=3 WEFT_RENDEZVOUS=127.0.0.1:" + port + " " + script), "WEFT", 3);
}

TEST(StoreLaunch, ranks_with_torchruns_variables_meet) {
  const std::string port = std::to_string(20'000 + (::getpid() + 5'000) % 10'000);
  const std::string script = "bash -c 'for r in 0 1 2; do RANK=$r \"$@\" & done; wait' rank";
  expect_all_met(launch("env WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port + " " + script), "torchrun", 3);
}

}  // namespace
}  // namespace weft::transports
