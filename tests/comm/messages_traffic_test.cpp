// Random messages, all checked, over lanes in memory, shared memory, and lanes that delay, read late and hold one
// message.
#include <gtest/gtest.h>

#include "tests/comm/support/traffic.hpp"

namespace weft::comm {
namespace {

testing::JobOptions job_over(const char* transport) {
  testing::JobOptions job;
  job.transport = transport;
  job.options.timeout_ms = 60'000;
  return job;
}

TEST(MessagesTraffic, over_local_lanes) {
  for (const std::uint64_t seed : {1, 2, 3})
    testing::run_traffic(job_over("local"), {.seed = seed, .ranks = 4, .rounds = 8});
}

TEST(MessagesTraffic, between_many_ranks) {
  testing::run_traffic(job_over("local"), {.seed = 11, .ranks = 9, .rounds = 4, .messages = 200, .max_bytes = 100'000});
}

TEST(MessagesTraffic, over_shared_memory) {
  testing::run_traffic(job_over("shm"), {.seed = 4, .ranks = 3, .rounds = 8});
}

TEST(MessagesTraffic, over_lanes_that_delay_read_late_and_hold_one_message) {
  for (const std::uint64_t seed : {5, 6, 7, 8}) {
    testing::JobOptions job = job_over("sim");
    job.sim.seed = seed;
    job.sim.room = seed % 2 == 0 ? 1 : 5;
    testing::run_traffic(job, {.seed = seed, .ranks = 3, .rounds = 4});
  }
}

TEST(MessagesTraffic, with_the_helper_thread) {
  testing::JobOptions job = job_over("local");
  job.options.progress_thread = true;
  testing::run_traffic(job, {.seed = 9, .ranks = 2, .rounds = 4, .messages = 40});
}

}  // namespace
}  // namespace weft::comm
