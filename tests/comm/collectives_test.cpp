// Every collective, algorithm, type and operator through a communicator whose ranks are threads, over lanes in memory
// and simulated ones.
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

TEST(Collectives, every_algorithm_is_right_for_every_type_operator_and_in_place_over_local_lanes) {
  Complaints complaints;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const int size : {1, 2, 3, 4, 7}) exercise("local", *algorithm, size, 0, size == 3 || size == 4, complaints);
  }
  EXPECT_EQ(complaints.text(), "");
}

TEST(Collectives, channels_change_nothing) {
  Complaints complaints;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (algorithm->replicable) exercise("local", *algorithm, 4, 3 * algorithm->native_channels, false, complaints);
  }
  EXPECT_EQ(complaints.text(), "");
}

TEST(Collectives, every_algorithm_is_right_over_shared_memory) {
  Complaints complaints;
  for (const Algorithm* algorithm : all_algorithms()) exercise("shm", *algorithm, 3, 0, true, complaints);
  EXPECT_EQ(complaints.text(), "");
}

TEST(Collectives, every_algorithm_is_right_over_lanes_that_delay_read_late_and_hold_one_message) {
  Complaints complaints;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const int size : {2, 3, 5}) exercise("sim", *algorithm, size, 0, size == 3, complaints);
  }
  EXPECT_EQ(complaints.text(), "");
}

TEST(Collectives, in_place_on_some_ranks_only_changes_nothing) {
  Complaints complaints;
  for (const Algorithm* algorithm : all_algorithms()) {
    testing::run_job(4, job_with("local", *algorithm, 0), [&](CommunicatorState& communicator) {
      for (const std::uint64_t count : {3, 5'000}) {
        const Operation operation = call(algorithm->collective, count, DataType::Float32);
        const bool in_place = communicator.rank() % 2 == 1;
        complaints.add(name(operation, std::string(algorithm->name), in_place, communicator.rank(), 4),
                       run_and_check(communicator, operation, in_place));
      }
    });
  }
  EXPECT_EQ(complaints.text(), "");
}

}  // namespace
}  // namespace weft::comm
