// ctest: ucx
// Messages over UCX, and over a mix of shared memory and UCX.
#include <gtest/gtest.h>

#include "tests/comm/support/traffic.hpp"

namespace weft::comm {
namespace {

TEST(MessagesUcx, random_ones_are_right_over_ucx) {
  testing::JobOptions job;
  job.transport = "ucx";
  job.options.timeout_ms = 60'000;
  testing::run_traffic(job, {.seed = 21, .ranks = 3, .rounds = 4, .max_bytes = 600'000});
}

TEST(MessagesUcx, hosts_and_transports_may_be_mixed) {
  testing::JobOptions job;
  job.transport = "shm,ucx";
  job.options.timeout_ms = 60'000;
  job.host_ids = {"a", "a", "b", "b"};
  testing::run_traffic(job, {.seed = 22, .ranks = 4, .rounds = 4});
}

}  // namespace
}  // namespace weft::comm
