// Runs one operation on one rank, in place or not, and complains of the first wrong element.
#include "tests/comm/support/exercise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>

namespace weft::testing {

Operation with_root(Operation operation, int root) {
  operation.root = root;
  return operation;
}

// The call without buffers.
Operation call(Collective collective, std::uint64_t count, DataType dtype, ReduceOp op) {
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
std::string run_and_check(comm::CommunicatorState& communicator, Operation operation, bool in_place) {
  const int rank = communicator.rank();
  const int size = communicator.size();
  const Buffer in = input_of(operation, rank, size);
  const Buffer expected = expected_of(operation, rank, size);
  if (!in_place || in.empty() || expected.empty()) {
    Buffer out(expected.size(), std::byte{0x5a});
    const Buffer before = in;
    operation.in = in.data();
    operation.out = out.data();
    const Status status = communicator.run(operation);
    if (!status.ok()) return status.to_string();
    if (in != before) return "the input was changed";
    return first_difference(operation, out, expected);
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
  return first_difference(operation, Buffer(begin, begin + static_cast<std::ptrdiff_t>(expected.size())), expected);
}

void Complaints::add(const std::string& what, const std::string& complaint) {
  if (complaint.empty()) return;
  const std::lock_guard lock(mutex_);
  if (count_++ < 10) text_ += what + ": " + complaint + "\n";
}

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

JobOptions job_with(const std::string& transport, const Algorithm& algorithm, int channels) {
  JobOptions job;
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
  run_job(size, job_with(transport, algorithm, channels), [&](comm::CommunicatorState& communicator) {
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

}  // namespace weft::testing
