// What the tests of collectives try an algorithm with.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "tests/comm/support/exact_values.hpp"
#include "tests/comm/support/thread_ranks.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::testing {

// The call without buffers.
Operation call(Collective collective, std::uint64_t count, DataType dtype, ReduceOp op = ReduceOp::Sum);

// Runs the call once on this rank; empty if it was right and left the input alone.
std::string run_and_check(comm::CommunicatorState& communicator, Operation operation, bool in_place);

// "all_reduce/ring of 100 float32 sum root 0 in place on rank 1 of 4"
std::string name(const Operation& operation, const std::string& algorithm, bool in_place, int rank, int size);

// Collects complaints of several threads.
class Complaints {
 public:
  void add(const std::string& what, const std::string& complaint);
  std::string text() const { return text_; }

 private:
  std::mutex mutex_;
  int count_ = 0;
  std::string text_;
};

// WEFT_TEST_SEED, or one of its own, which it prints.
std::uint64_t seed_of_this_run();

// A job whose calls use this algorithm. channels 0: chosen.
JobOptions job_with(const std::string& transport, const Algorithm& algorithm, int channels);

// What one algorithm is tried with on `size` ranks: counts, roots, in and out of place; all types and operators if
// asked for.
void exercise(const std::string& transport, const Algorithm& algorithm, int size, int channels, bool all_types,
              Complaints& complaints);

}  // namespace weft::testing
