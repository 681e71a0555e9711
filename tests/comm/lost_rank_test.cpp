// A rank that dies in the middle of a collective is named by all survivors, whichever message was its last.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/comm/support/thread_ranks.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::comm {
namespace {

constexpr int kDying = 2;

// Runs the algorithm until the rank has died; returns what each survivor was told.
std::vector<Status> run_until_death(const Algorithm& algorithm, std::uint64_t last_message) {
  testing::JobOptions job;
  job.transport = "sim";
  job.options.timeout_ms = 20'000;
  job.options.algorithms = fmt::format("{}:{}", to_string(algorithm.collective), algorithm.name);
  job.sim.seed = last_message;
  job.sim.dying_rank = kDying;
  job.sim.dies_at_message = last_message;
  std::vector<Status> told(4);
  testing::run_job(4, job, [&](CommunicatorState& communicator) {
    std::vector<float> in(4 * 500, 1), out(4 * 500);
    Operation operation;
    operation.collective = algorithm.collective;
    operation.dtype = DataType::Float32;
    operation.count = algorithm.collective == Collective::Barrier ? 0 : 500;
    operation.in = in.data();
    operation.out = out.data();
    Status status;
    for (int round = 0; round < 100 && status.ok(); ++round) status = communicator.run(operation);
    told[static_cast<std::size_t>(communicator.rank())] = status;
  });
  return told;
}

TEST(LostRank, is_named_by_all_survivors_whichever_message_was_its_last) {
  for (const char* name : {"all_reduce/ring", "all_reduce/double_tree", "all_gather/bruck", "all_to_all/pairwise",
                           "barrier/dissemination"}) {
    const std::string text = name;
    const std::size_t slash = text.find('/');
    const Algorithm* algorithm = find_algorithm(*parse_collective(text.substr(0, slash)), text.substr(slash + 1));
    ASSERT_NE(algorithm, nullptr) << name;
    for (const std::uint64_t last : {0, 1, 2, 5, 11}) {
      const auto told = run_until_death(*algorithm, last);
      for (std::size_t rank = 0; rank < told.size(); ++rank) {
        if (rank == kDying) continue;
        EXPECT_EQ(told[rank].code(), Code::PeerLost)
            << name << " message " << last << " rank " << rank << ": " << told[rank].to_string();
        EXPECT_NE(told[rank].message().find(fmt::format("rank {}", kDying)), std::string_view::npos)
            << told[rank].to_string();
      }
    }
  }
}

}  // namespace
}  // namespace weft::comm
