// Quantised calls: whatever the transport, the channels, the passes and the stages' algorithms, all ranks hold the bits
// that quantising once, summing in one order and quantising once more give, within the bound of error.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/comm/support/exercise.hpp"
#include "tests/comm/support/quantised_calls.hpp"
#include "tests/comm/support/thread_ranks.hpp"

namespace weft::comm {
namespace {

using testing::Complaints;
using ::testing::HasSubstr;
using testing::JobOptions;
using testing::run_job;
using testing::run_quantised;

constexpr Quantisation kBoth[] = {Quantisation::Int8, Quantisation::Float8E4M3};

JobOptions job_on(const std::string& transport) {
  JobOptions job;
  job.transport = transport;
  job.sim.seed = testing::seed_of_this_run();
  job.options.timeout_ms = 60'000;
  return job;
}

std::string name(const Operation& call, bool in_place) {
  return fmt::format("{} of {} {} {} to {}{}", to_string(call.collective), call.count, to_string(call.dtype),
                     to_string(call.op), to_string(call.quantisation), in_place ? " in place" : "");
}

int occurrences(std::string_view text, std::string_view of) {
  int count = 0;
  for (std::size_t at = text.find(of); at != std::string_view::npos; at = text.find(of, at + 1)) ++count;
  return count;
}

void attempt(CommunicatorState& communicator, const Operation& call, Complaints& complaints) {
  for (const bool in_place : {false, true}) {
    complaints.add(name(call, in_place),
                   run_quantised(communicator, call, in_place, testing::seed_of_this_run() % 1000));
  }
}

void attempt_all(CommunicatorState& communicator, std::uint64_t count, Complaints& complaints) {
  for (const Quantisation quantisation : kBoth) {
    attempt(communicator, quantised(all_reduce(count, DataType::Float32), quantisation), complaints);
    attempt(communicator, quantised(all_reduce(count, DataType::Float32, ReduceOp::Avg), quantisation), complaints);
    attempt(communicator, quantised(all_gather(count, DataType::Float32), quantisation), complaints);
  }
}

TEST(Quantised, counts_of_all_kinds_are_right_between_threads) {
  Complaints complaints;
  for (const int size : {1, 2, 3, 5, 8}) {
    run_job(size, job_on("local"), [&](CommunicatorState& communicator) {
      for (const std::uint64_t count : {1, 7, 255, 256, 257, 5001}) attempt_all(communicator, count, complaints);
    });
  }
  EXPECT_EQ(complaints.text(), "");
}

TEST(Quantised, long_calls_take_several_channels_and_passes) {
  Complaints complaints;
  for (const int size : {2, 3}) {
    run_job(size, job_on("local"), [&](CommunicatorState& communicator) {
      // Two ranks: two or three passes on each of 16 channels.
      const std::uint64_t count = size == 2 ? 1'100'003 : 250'001;
      attempt(communicator, quantised(all_reduce(count, DataType::Float32), Quantisation::Int8), complaints);
      attempt(communicator, quantised(all_gather(count / 2, DataType::Float32), Quantisation::Float8E4M3), complaints);
    });
  }
  EXPECT_EQ(complaints.text(), "");
}

TEST(Quantised, short_floats_are_right) {
  Complaints complaints;
  run_job(3, job_on("local"), [&](CommunicatorState& communicator) {
    for (const DataType dtype : {DataType::Float16, DataType::BFloat16}) {
      for (const Quantisation quantisation : kBoth) {
        for (const std::uint64_t count : {3, 700, 40'009}) {
          attempt(communicator, quantised(all_reduce(count, dtype), quantisation), complaints);
          attempt(communicator, quantised(all_gather(count, dtype), quantisation), complaints);
        }
      }
    }
  });
  EXPECT_EQ(complaints.text(), "");
}

TEST(Quantised, they_are_right_with_late_messages_and_over_shared_memory) {
  Complaints complaints;
  for (const char* transport : {"sim", "shm"}) {
    run_job(3, job_on(transport), [&](CommunicatorState& communicator) {
      for (const std::uint64_t count : {5, 1000, 150'011}) attempt_all(communicator, count, complaints);
    });
  }
  EXPECT_EQ(complaints.text(), "");
}

TEST(Quantised, the_stages_algorithms_do_not_change_the_bits) {
  Complaints complaints;
  for (const char* rules : {"all_to_all:pairwise;all_gather:ring", "all_to_all:bruck;all_gather:bruck"}) {
    JobOptions job = job_on("local");
    job.options.algorithms = rules;
    job.options.numerics = Numerics::Invariant;
    run_job(5, job, [&](CommunicatorState& communicator) {
      const auto choice = communicator.explain(quantised(all_reduce(5000, DataType::Float32), Quantisation::Int8));
      ASSERT_TRUE(choice.has_value());
      const bool ring = std::string_view(rules).find("ring") != std::string_view::npos;
      EXPECT_EQ(choice->winner().algorithm, ring ? "int8:pairwise+ring" : "int8:bruck+bruck");
      attempt_all(communicator, 5000, complaints);
    });
  }
  EXPECT_EQ(complaints.text(), "");
}

// Hosts of equally many ranks sum their numbers before they are quantised: other bits, the same bound.
TEST(Quantised, hosts_sum_first_unless_the_bits_may_not_depend_on_them) {
  Complaints complaints;
  const std::vector<std::vector<std::string>> placements = {
      {"a", "a", "b", "b"}, {"a", "b", "a", "b"}, {"a", "a", "a", "b", "b", "b"}, {"a", "a", "b", "b", "c", "c"}};
  for (const auto& placement : placements) {
    for (const Numerics numerics : {Numerics::Fast, Numerics::Invariant}) {
      JobOptions job = job_on("sim");
      job.host_ids = placement;
      job.options.numerics = numerics;
      const bool by_hosts = numerics == Numerics::Fast;
      run_job(static_cast<int>(placement.size()), job, [&](CommunicatorState& communicator) {
        const Operation one = quantised(all_reduce(9000, DataType::Float32), Quantisation::Int8);
        const auto choice = communicator.explain(one);
        ASSERT_TRUE(choice.has_value()) << choice.status().to_string();
        EXPECT_EQ(choice->winner().algorithm.starts_with("int8:hosts:"), by_hosts) << choice->winner().algorithm;
        // The longest takes more passes than there are channels.
        const std::uint64_t most = by_hosts && placement == placements.front() ? 1'150'001 : 20'001;
        for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{700}, std::uint64_t{9000}, most}) {
          for (const bool in_place : {false, true}) {
            const Operation call = quantised(all_reduce(count, DataType::Float32, ReduceOp::Avg), Quantisation::Int8);
            complaints.add(name(call, in_place),
                           run_quantised(communicator, call, in_place, testing::seed_of_this_run() % 1000,
                                         by_hosts ? testing::Bits::OfAllRanks : testing::Bits::OfTheReference));
          }
        }
      });
    }
  }
  EXPECT_EQ(complaints.text(), "");
}

TEST(Quantised, calls_are_started_prepared_and_repeated) {
  run_job(2, job_on("local"), [](CommunicatorState& communicator) {
    constexpr std::uint64_t kCount = 150'000;
    std::vector<float> in(kCount), first(kCount), second(kCount), plain(kCount);
    for (std::size_t i = 0; i < kCount; ++i)
      in[i] = static_cast<float>(i % 1009) * (communicator.rank() == 0 ? 0.37F : -1.25F);
    const Operation call = quantised(all_reduce(kCount, DataType::Float32), Quantisation::Int8);
    ASSERT_TRUE(communicator.prepare(call).ok());
    const auto start = [&](std::vector<float>& out, Quantisation quantisation) {
      std::uint32_t ticket = 0;
      const Operation one = quantised(all_reduce(in.data(), out.data(), kCount, DataType::Float32), quantisation);
      const Status status = communicator.start(one, &ticket);
      EXPECT_TRUE(status.ok()) << status.to_string();
      return ticket;
    };
    const std::uint32_t a = start(first, Quantisation::Int8);
    const std::uint32_t b = start(plain, Quantisation::None);
    const std::uint32_t c = start(second, Quantisation::Int8);
    for (const std::uint32_t ticket : {c, a, b}) EXPECT_TRUE(communicator.wait(ticket).ok());
    EXPECT_EQ(first, second);
    EXPECT_NE(first, plain);
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Quantised, what_is_not_finite_becomes_nan_at_its_place_on_all_ranks) {
  for (const Quantisation quantisation : kBoth) {
    run_job(3, job_on("local"), [&](CommunicatorState& communicator) {
      constexpr std::uint64_t kCount = 600;
      std::vector<float> in(kCount, 1), out(kCount);
      if (communicator.rank() == 0) in[3] = std::numeric_limits<float>::quiet_NaN();
      if (communicator.rank() == 1) in[300] = std::numeric_limits<float>::infinity();
      if (communicator.rank() == 2) in[301] = -std::numeric_limits<float>::infinity();
      in[599] = std::numeric_limits<float>::max();  // beyond the largest number, summed
      const Status status =
          communicator.run(quantised(all_reduce(in.data(), out.data(), kCount, DataType::Float32), quantisation));
      ASSERT_TRUE(status.ok()) << status.to_string();
      const float nan = std::numeric_limits<float>::quiet_NaN();
      for (std::size_t i = 0; i < kCount; ++i) {
        const bool lost = i == 3 || i == 300 || i == 301 || i == 599;
        // In the last block all but the largest number is less than a step.
        const float expected = lost ? nan : i >= 512 ? 0.0F : 3.0F;
        EXPECT_EQ(std::memcmp(&out[i], &expected, sizeof expected), 0) << i << ": " << out[i];
      }
    });
  }
}

TEST(Quantised, nothing_to_reduce_is_no_error) {
  run_job(2, job_on("local"), [](CommunicatorState& communicator) {
    for (const Collective collective : {Collective::AllReduce, Collective::AllGather}) {
      Operation call = testing::call(collective, 0, DataType::Float32);
      EXPECT_TRUE(communicator.run(quantised(call, Quantisation::Int8)).ok());
    }
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Quantised, what_cannot_be_quantised_is_refused_with_the_reason) {
  run_job(1, job_on("local"), [](CommunicatorState& communicator) {
    std::vector<float> memory(64);
    float* const in = memory.data();
    float* const out = in + 32;
    const auto refusal = [&](const Operation& operation) {
      const Status status = communicator.run(quantised(operation, Quantisation::Int8));
      EXPECT_EQ(status.code(), Code::InvalidArgument) << status.to_string();
      return std::string(status.message());
    };
    EXPECT_THAT(refusal(reduce_scatter(in, out, 8, DataType::Float32)),
                HasSubstr("reduce_scatter: only all_reduce and all_gather can be quantised"));
    EXPECT_THAT(refusal(all_reduce(in, out, 8, DataType::Int32)),
                HasSubstr("int32 cannot be quantised; float32, float16 and bfloat16 can"));
    EXPECT_THAT(refusal(all_reduce(in, out, 8, DataType::Float32, ReduceOp::Max)),
                HasSubstr("max of quantised numbers is not defined; sum and avg are"));
    const std::uint64_t counts[] = {8};
    EXPECT_THAT(refusal(all_gather_v(in, out, {counts, nullptr}, DataType::Float32)), HasSubstr("all_gather_v: only"));
  });
}

TEST(Quantised, ranks_that_quantise_differently_are_told_both_calls) {
  const std::pair<Quantisation, Quantisation> pairs[] = {{Quantisation::Int8, Quantisation::None},
                                                         {Quantisation::Int8, Quantisation::Float8E4M3}};
  for (const auto& [left, right] : pairs) {
    run_job(2, job_on("local"), [&, left = left, right = right](CommunicatorState& communicator) {
      std::vector<float> in(1000, 1), out(1000);
      const Operation call = all_reduce(in.data(), out.data(), 1000, DataType::Float32);
      Status status = communicator.run(quantised(call, communicator.rank() == 0 ? left : right));
      if (status.ok()) status = communicator.close();
      EXPECT_EQ(status.code(), Code::Mismatch) << status.to_string();
      const std::string message(status.message());
      EXPECT_THAT(message, HasSubstr("float32, sum, quantised to int8"));
      EXPECT_EQ(occurrences(message, "all_reduce #1"), 2) << message;
      EXPECT_EQ(occurrences(message, "quantised to e4m3"), right == Quantisation::None ? 0 : 1) << message;
    });
  }
}

TEST(Quantised, explain_says_how_numbers_travel) {
  run_job(4, job_on("local"), [](CommunicatorState& communicator) {
    const auto choice = communicator.explain(quantised(all_reduce(1 << 20, DataType::Float32), Quantisation::Int8));
    ASSERT_TRUE(choice.has_value()) << choice.status().to_string();
    EXPECT_THAT(choice->to_string(), HasSubstr("numbers travel as int8 in blocks of 256"));
    EXPECT_EQ(choice->bytes, std::uint64_t{4} << 20);
    EXPECT_GT(choice->winner().estimate_ns, 0);
  });
}

}  // namespace
}  // namespace weft::comm
