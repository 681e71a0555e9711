// Every collective, algorithm, type and operator through a communicator whose ranks are threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <random>

#include "tests/comm/support/exact_values.hpp"
#include "tests/comm/support/thread_ranks.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::comm {
namespace {

using testing::Buffer;

Operation with_root(Operation operation, int root) {
  operation.root = root;
  return operation;
}

// The call without buffers.
Operation call(Collective collective, std::uint64_t count, DataType dtype, ReduceOp op = ReduceOp::Sum) {
  Operation operation;
  operation.collective = collective;
  operation.dtype = dtype;
  operation.op = op;
  operation.count = collective == Collective::Barrier ? 0 : count;
  return operation;
}

// Where the input lies inside the output (or the output inside the input), in place.
std::size_t in_place_offset(const Operation& operation, int rank) {
  const bool by_block = operation.collective == Collective::AllGather || operation.collective == Collective::Gather ||
                        operation.collective == Collective::ReduceScatter ||
                        operation.collective == Collective::Scatter;
  return by_block ? static_cast<std::size_t>(rank) * operation.count * size_of(operation.dtype) : 0;
}

// Runs the call once on this rank; empty if it was right.
std::string run_and_check(CommunicatorState& communicator, Operation operation, bool in_place) {
  const int rank = communicator.rank();
  const int size = communicator.size();
  const Buffer in = testing::input_of(operation, rank, size);
  const Buffer expected = testing::expected_of(operation, rank, size);
  if (!in_place || in.empty() || expected.empty()) {
    Buffer out(expected.size(), std::byte{0x5a});
    const Buffer before = in;
    operation.in = in.data();
    operation.out = out.data();
    const Status status = communicator.run(operation);
    if (!status.ok()) return status.to_string();
    if (in != before) return "the input was changed";
    return testing::first_difference(operation, out, expected);
  }
  Buffer memory(std::max(in.size(), expected.size()));
  const std::size_t offset = in_place_offset(operation, rank);
  const bool input_is_larger = in.size() > expected.size();
  std::copy(in.begin(), in.end(), memory.begin() + static_cast<std::ptrdiff_t>(input_is_larger ? 0 : offset));
  operation.in = memory.data() + (input_is_larger ? 0 : offset);
  operation.out = memory.data() + (input_is_larger ? offset : 0);
  const Status status = communicator.run(operation);
  if (!status.ok()) return status.to_string();
  const auto begin = memory.begin() + static_cast<std::ptrdiff_t>(input_is_larger ? offset : 0);
  return testing::first_difference(operation, Buffer(begin, begin + static_cast<std::ptrdiff_t>(expected.size())),
                                   expected);
}

// Collects complaints of several threads.
class Complaints {
 public:
  void add(const std::string& what, const std::string& complaint) {
    if (complaint.empty()) return;
    const std::lock_guard lock(mutex_);
    if (count_++ < 10) text_ += what + ": " + complaint + "\n";
  }
  std::string text() const { return text_; }

 private:
  std::mutex mutex_;
  int count_ = 0;
  std::string text_;
};

std::string name(const Operation& operation, const std::string& algorithm, bool in_place, int rank, int size) {
  return fmt::format("{}/{} of {} {} {} root {}{} on rank {} of {}", to_string(operation.collective), algorithm,
                     operation.count, to_string(operation.dtype), to_string(operation.op), operation.root,
                     in_place ? " in place" : "", rank, size);
}

std::uint64_t seed_of_this_run() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("WEFT_TEST_SEED");
    const std::uint64_t chosen = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    fmt::print("seed {}: replay with WEFT_TEST_SEED={}\n", chosen, chosen);
    return chosen;
  }();
  return seed;
}

testing::JobOptions job_with(const std::string& transport, const Algorithm& algorithm, int channels) {
  testing::JobOptions job;
  job.sim.seed = seed_of_this_run();
  job.transport = transport;
  job.options.timeout_ms = 60'000;
  job.options.algorithms = fmt::format("{}:{}", to_string(algorithm.collective), algorithm.name);
  job.options.channels = channels;
  return job;
}

// What one algorithm is tried with on `size` ranks.
void exercise(const std::string& transport, const Algorithm& algorithm, int size, int channels, bool all_types,
              Complaints& complaints) {
  testing::run_job(size, job_with(transport, algorithm, channels), [&](CommunicatorState& communicator) {
    const auto attempt = [&](const Operation& operation, bool in_place) {
      complaints.add(name(operation, std::string(algorithm.name), in_place, communicator.rank(), size),
                     run_and_check(communicator, operation, in_place));
    };
    const int roots = has_root(algorithm.collective) ? size : 1;
    for (const bool in_place : {false, true}) {
      for (const std::uint64_t count : {0, 1, 7, 1000, 40'009}) {
        for (int root = 0; root < roots; ++root) {
          attempt(with_root(call(algorithm.collective, count, DataType::Int32), root), in_place);
        }
      }
      for (int dtype = 0; all_types && dtype < kDataTypes; ++dtype) {
        for (int op = 0; op < (reduces(algorithm.collective) ? kReduceOps : 1); ++op) {
          if (!valid(static_cast<DataType>(dtype), static_cast<ReduceOp>(op)) && reduces(algorithm.collective))
            continue;
          attempt(call(algorithm.collective, 129, static_cast<DataType>(dtype), static_cast<ReduceOp>(op)), in_place);
        }
      }
    }
  });
}

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

TEST(CollectivesUcx, every_algorithm_is_right_over_ucx) {
  Complaints complaints;
  for (const Algorithm* algorithm : all_algorithms()) exercise("ucx", *algorithm, 3, 0, true, complaints);
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

TEST(Collectives, hosts_and_transports_may_be_mixed_in_one_communicator) {
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
