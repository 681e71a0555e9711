// The v-variants: what ranks tell differently, and blocks that make no sense.
#include <gmock/gmock.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "tests/comm/support/thread_ranks.hpp"
#include "tests/comm/support/uneven_calls.hpp"
#include "weft/operation.hpp"

namespace weft::comm {
namespace {

using ::testing::AllOf;
using testing::Counts;
using ::testing::HasSubstr;
using testing::Values;

// Also where all slices of a message are whole (16,384 elements make one).
TEST(Uneven, a_sender_and_a_receiver_that_differ_get_an_error_that_names_both) {
  for (const char* transport : {"local", "ucx"}) {
    for (const auto& [sent, claimed] :
         std::initializer_list<std::pair<std::uint64_t, std::uint64_t>>{{10, 0},
                                                                        {10, 9},
                                                                        {10, 11},
                                                                        {10, 200'000},
                                                                        {16'384, 32'768},
                                                                        {32'768, 16'384},
                                                                        {0, 5},
                                                                        {131'072, 65'536}}) {
      testing::JobOptions job;
      job.transport = transport;
      testing::run_job(2, job, [&](CommunicatorState& communicator) {
        const bool liar = communicator.rank() == 1;
        const Counts out_counts = {sent, sent};
        const Counts in_counts = {liar ? claimed : sent, sent};
        const Values in(2 * sent, 1);
        Values out(claimed + 2 * sent, 0);
        Status status = communicator.run(
            all_to_all_v(in.data(), {out_counts.data()}, out.data(), {in_counts.data()}, DataType::Int32));
        EXPECT_TRUE(!liar || status.code() == Code::Mismatch) << transport << " " << sent << " " << claimed;
        if (status.ok()) status = communicator.run(barrier());
        EXPECT_EQ(status.code(), Code::Mismatch) << transport << " " << claimed << ": " << status.message();
        EXPECT_THAT(std::string(status.message()),
                    AllOf(HasSubstr("rank 1 called all_to_all_v #1"), HasSubstr("rank 0 sent it"),
                          HasSubstr("counts of sender and receiver must agree")));
      });
    }
  }
}

TEST(Uneven, ranks_that_gather_other_counts_get_an_error) {
  testing::run_job(2, {}, [&](CommunicatorState& communicator) {
    const Counts counts = communicator.rank() == 0 ? Counts{4, 6} : Counts{6, 4};
    const Values in(6, 1);
    Values out(10, 0);
    const Status status = communicator.run(all_gather_v(in.data(), out.data(), {counts.data()}, DataType::Int32));
    EXPECT_EQ(status.code(), Code::Mismatch) << status.message();
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("all_gather_v #1 of int32, about 5 a rank"),
                      HasSubstr("their counts differ, and all ranks must give equal ones")));
  });
}

TEST(Uneven, blocks_that_make_no_sense_are_refused_by_name) {
  testing::run_job(1, {}, [&](CommunicatorState& communicator) {
    const auto refusal = [&](const Operation& call) { return std::string(communicator.run(call).message()); };
    const Counts two = {2};
    const Counts three = {3};
    const Counts huge = {std::uint64_t{1} << 60};
    Values buffer(10, 0);
    Values other(10, 0);
    EXPECT_THAT(refusal(all_gather_v(buffer.data(), other.data(), {}, DataType::Int32)),
                HasSubstr("all_gather_v: out_blocks.counts is null"));
    EXPECT_THAT(refusal(all_gather_v(buffer.data(), other.data(), {huge.data()}, DataType::Int32)),
                HasSubstr("out_blocks 0 has 1152921504606846976 elements"));
    EXPECT_THAT(refusal(all_to_all_v(buffer.data(), {two.data()}, other.data(), {three.data()}, DataType::Int32)),
                HasSubstr("rank 0 sends 2 elements to itself but wants to receive 3"));
    EXPECT_THAT(refusal(all_gather_v(buffer.data(), nullptr, {two.data()}, DataType::Int32)), HasSubstr("out is null"));
    Operation broadcast = weft::broadcast(buffer.data(), other.data(), 2, DataType::Int32);
    broadcast.uneven = true;
    EXPECT_THAT(refusal(broadcast), HasSubstr("there is no such v-variant"));
  });
  testing::run_job(2, {}, [&](CommunicatorState& communicator) {
    const Counts counts = {4, 4};
    const Counts offsets = {0, 3};
    const Values in(4, 1);
    Values out(10, 0);
    const Status status =
        communicator.run(all_gather_v(in.data(), out.data(), {counts.data(), offsets.data()}, DataType::Int32));
    EXPECT_THAT(std::string(status.message()), HasSubstr("out_blocks 0 and 1 overlap; offsets are in elements"));
  });
}

}  // namespace
}  // namespace weft::comm
