// ctest: ucx
// Quantised calls over UCX, and over shared memory and UCX.
#include <gtest/gtest.h>

#include "tests/comm/support/exercise.hpp"
#include "tests/comm/support/quantised_calls.hpp"
#include "tests/comm/support/thread_ranks.hpp"

namespace weft::comm {
namespace {

void attempt_all(const testing::JobOptions& job, int size, testing::Bits bits, testing::Complaints& complaints) {
  testing::run_job(size, job, [&](CommunicatorState& communicator) {
    // Three ranks: several channels.
    const std::uint64_t most = size == 3 ? 250'001 : 50'001;
    for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{3000}, most}) {
      for (const Quantisation quantisation : {Quantisation::Int8, Quantisation::Float8E4M3}) {
        for (const bool in_place : {false, true}) {
          const std::uint64_t seed = testing::seed_of_this_run() % 1000;
          complaints.add("all_reduce", testing::run_quantised(
                                           communicator, quantised(all_reduce(count, DataType::Float32), quantisation),
                                           in_place, seed, bits));
          complaints.add("all_gather", testing::run_quantised(
                                           communicator, quantised(all_gather(count, DataType::Float32), quantisation),
                                           in_place, seed, bits));
        }
      }
    }
  });
}

TEST(QuantisedUcx, calls_are_right_over_ucx) {
  testing::JobOptions job;
  job.transport = "ucx";
  job.options.timeout_ms = 60'000;
  testing::Complaints complaints;
  attempt_all(job, 3, testing::Bits::OfTheReference, complaints);
  EXPECT_EQ(complaints.text(), "");
}

TEST(QuantisedUcx, calls_are_right_on_two_hosts_of_two_ranks) {
  testing::JobOptions job;
  job.transport = "shm,ucx";
  job.options.timeout_ms = 60'000;
  job.host_ids = {"a", "a", "b", "b"};
  testing::Complaints complaints;
  attempt_all(job, 4, testing::Bits::OfAllRanks, complaints);
  job.options.numerics = Numerics::Invariant;
  attempt_all(job, 4, testing::Bits::OfTheReference, complaints);
  EXPECT_EQ(complaints.text(), "");
}

}  // namespace
}  // namespace weft::comm
