// Numerics::Invariant: whatever the algorithm, the channels, the transport, the size and the place, the same bits; and
// they are those of the canonical tree, computed here one reduction after the other.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "algorithms/canonical_order.hpp"
#include "bench/weft-bench/unruly.hpp"
#include "comm/kernels/kernels.hpp"
#include "tests/comm/support/exercise.hpp"
#include "tests/comm/support/thread_ranks.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::comm {
namespace {

using Buffer = std::vector<std::byte>;

Buffer unruly(DataType dtype, std::uint64_t elements, int rank) {
  Buffer buffer(elements * size_of(dtype));
  bench::write_unruly(buffer, dtype, rank);
  return buffer;
}

// All elements of all ranks, reduced in the canonical order.
Buffer canonical(const Operation& operation, std::uint64_t elements, int size) {
  std::vector<Buffer> open;
  for (int rank = 0; rank < size; ++rank) {
    Buffer value = unruly(operation.dtype, elements, rank);
    for (int joins = algorithms::joins_after(rank, size); joins > 0; --joins) {
      const bool last = rank == size - 1 && joins == 1;
      reduce_kernel(operation.dtype, operation.op, last)(value.data(), open.back().data(), value.data(), elements,
                                                         size);
      open.pop_back();
    }
    open.push_back(std::move(value));
  }
  return open.back();
}

struct Tally {
  std::atomic<int> compared{0};
  std::atomic<int> different{0};
};

// This rank's part of the result against the reference, bit by bit.
void compare(CommunicatorState& communicator, Operation operation, bool in_place, Tally& tally) {
  const int rank = communicator.rank();
  const int size = communicator.size();
  const std::size_t element = size_of(operation.dtype);
  const std::uint64_t elements = input_count(operation, rank, size);
  const std::uint64_t results = output_count(operation, rank, size);
  Buffer in = unruly(operation.dtype, elements, rank);
  Buffer out(std::max(elements, results) * element);
  const bool scatters = operation.collective == Collective::ReduceScatter;
  const std::size_t own = scatters ? static_cast<std::size_t>(rank) * operation.count * element : 0;
  in_place = in_place && results > 0;
  if (in_place) std::copy(in.begin(), in.end(), out.begin());
  operation.in = in_place ? out.data() : in.data();
  operation.out = results == 0 ? nullptr : out.data() + (in_place ? own : 0);
  const Status status = communicator.run(operation);
  ASSERT_TRUE(status.ok()) << status.to_string();
  if (results == 0) return;
  const Buffer expected = canonical(operation, elements, size);
  ++tally.compared;
  if (std::memcmp(operation.out, expected.data() + own, results * element) != 0) ++tally.different;
}

void run_grid(const Algorithm& algorithm, const std::string& transport, int size, int channels, Numerics numerics,
              Tally& tally) {
  testing::JobOptions job = testing::job_with(transport, algorithm, channels);
  job.options.numerics = numerics;
  testing::run_job(size, job, [&](CommunicatorState& communicator) {
    for (const DataType dtype :
         {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16, DataType::Float8E4M3}) {
      for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Avg, ReduceOp::Prod}) {
        for (const std::uint64_t count : {1, 7, 1500}) {
          Operation operation;
          operation.collective = algorithm.collective;
          operation.dtype = dtype;
          operation.op = op;
          operation.count = count;
          operation.root = algorithm.collective == Collective::Reduce ? size / 2 : 0;
          for (const bool in_place : {false, true}) compare(communicator, operation, in_place, tally);
        }
      }
    }
  });
}

TEST(Invariant, bits_do_not_depend_on_algorithm_channels_transport_size_or_place) {
  Tally tally;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (!algorithm->invariant) continue;
    for (const int size : {2, 3, 4, 5, 7, 8}) {
      run_grid(*algorithm, "local", size, algorithm->native_channels, Numerics::Invariant, tally);
      if (algorithm->replicable && size < 5)
        run_grid(*algorithm, "sim", size, 3 * algorithm->native_channels, Numerics::Invariant, tally);
    }
  }
  EXPECT_EQ(tally.different, 0) << "of " << tally.compared;
  EXPECT_GE(tally.compared, 2000);
}

// For scale: otherwise the inputs would not tell.
TEST(Invariant, without_it_bits_do_depend_on_the_algorithm) {
  Tally tally;
  run_grid(*find_algorithm(Collective::AllReduce, "ring"), "local", 4, 1, Numerics::Fast, tally);
  EXPECT_GT(tally.different, tally.compared / 4);
}

TEST(Invariant, algorithms_that_cannot_keep_to_the_order_are_refused_with_the_reason) {
  testing::JobOptions job;
  job.options.timeout_ms = 20'000;
  job.options.numerics = Numerics::Invariant;
  job.options.algorithms = "all_reduce:ring";
  testing::run_job(3, job, [](CommunicatorState& communicator) {
    const auto choice = communicator.explain(all_reduce(100, DataType::Float32));
    ASSERT_TRUE(choice.has_value());
    EXPECT_NE(choice->winner().algorithm, "ring");
    EXPECT_NE(choice->reason.find("another order than Numerics::Invariant"), std::string::npos) << choice->reason;
    // What moves bytes only is chosen as ever.
    const auto gather = communicator.explain(all_gather(nullptr, nullptr, 100, DataType::Float32));
    ASSERT_TRUE(gather.has_value());
  });
}

}  // namespace
}  // namespace weft::comm
