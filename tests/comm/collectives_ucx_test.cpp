// ctest: ucx
// The same over UCX, and over a mix of shared memory and UCX.
#include <gtest/gtest.h>

#include "tests/comm/support/exercise.hpp"
#include "tests/comm/support/thread_ranks.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::comm {
namespace {

using testing::call;
using testing::Complaints;
using testing::exercise;
using testing::job_with;
using testing::name;
using testing::run_and_check;

TEST(CollectivesUcx, every_algorithm_is_right_over_ucx) {
  Complaints complaints;
  for (const Algorithm* algorithm : all_algorithms()) exercise("ucx", *algorithm, 3, 0, true, complaints);
  EXPECT_EQ(complaints.text(), "");
}

TEST(CollectivesUcx, hosts_and_transports_may_be_mixed_in_one_communicator) {
  // Two ranks on each of two emulated hosts: shared memory within, UCX between.
  testing::JobOptions job;
  job.transport = "shm,ucx";
  job.options.timeout_ms = 60'000;
  job.host_ids = {"a", "a", "b", "b"};
  Complaints complaints;
  testing::run_job(4, job, [&](CommunicatorState& communicator) {
    const int neighbour = communicator.rank() ^ 1;
    complaints.add("neighbour",
                   communicator.transport(neighbour) == "shm" ? "" : std::string(communicator.transport(neighbour)));
    const int far = communicator.rank() ^ 2;
    complaints.add("other host", communicator.transport(far) == "ucx" ? "" : std::string(communicator.transport(far)));
    for (int collective = 0; collective < kCollectives; ++collective) {
      const Operation operation = call(static_cast<Collective>(collective), 30'001, DataType::Float32);
      complaints.add(name(operation, "chosen", false, communicator.rank(), 4),
                     run_and_check(communicator, operation, false));
    }
  });
  EXPECT_EQ(complaints.text(), "");
}

}  // namespace
}  // namespace weft::comm
