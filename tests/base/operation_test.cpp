// Operation: what the named calls fill in, and the element counts of each collective.
#include "weft/operation.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

struct Counts {
  Operation operation;
  std::uint64_t in_root, in_other, out_root, out_other, message_elements;
};

TEST(Operation, counts_follow_the_table_of_the_header) {
  constexpr int kSize = 5;
  constexpr int kRoot = 3;
  constexpr std::uint64_t n = 7;
  constexpr std::uint64_t whole = n * kSize;
  const auto f64 = DataType::Float64;
  const Counts table[] = {
      {all_reduce(nullptr, nullptr, n, f64), n, n, n, n, n},
      {all_gather(nullptr, nullptr, n, f64), n, n, whole, whole, whole},
      {reduce_scatter(nullptr, nullptr, n, f64), whole, whole, n, n, whole},
      {all_to_all(nullptr, nullptr, n, f64), whole, whole, whole, whole, whole},
      {broadcast(nullptr, nullptr, n, f64, kRoot), n, 0, n, n, n},
      {reduce(nullptr, nullptr, n, f64, ReduceOp::Sum, kRoot), n, n, n, 0, n},
      {gather(nullptr, nullptr, n, f64, kRoot), n, n, whole, 0, whole},
      {scatter(nullptr, nullptr, n, f64, kRoot), whole, 0, n, n, whole},
      {barrier(), 0, 0, 0, 0, 0},
  };
  static_assert(std::size(table) == kCollectives);
  for (const Counts& row : table) {
    SCOPED_TRACE(to_string(row.operation.collective));
    for (int rank = 0; rank < kSize; ++rank) {
      const bool root = rank == kRoot;
      EXPECT_EQ(input_count(row.operation, rank, kSize), root ? row.in_root : row.in_other) << "rank " << rank;
      EXPECT_EQ(output_count(row.operation, rank, kSize), root ? row.out_root : row.out_other) << "rank " << rank;
    }
    EXPECT_EQ(message_bytes(row.operation, kSize), row.message_elements * 8);
  }
}

TEST(Operation, named_calls_fill_every_field) {
  int in = 0;
  int out = 0;
  const Operation call = reduce(&in, &out, 9, DataType::Int32, ReduceOp::Max, 2);
  EXPECT_EQ(call.collective, Collective::Reduce);
  EXPECT_EQ(call.dtype, DataType::Int32);
  EXPECT_EQ(call.op, ReduceOp::Max);
  EXPECT_EQ(call.root, 2);
  EXPECT_EQ(call.count, 9u);
  EXPECT_EQ(call.in, &in);
  EXPECT_EQ(call.out, &out);
  EXPECT_EQ(call.memory, MemoryKind::Host);
  EXPECT_EQ(call.stream, nullptr);

  EXPECT_EQ(broadcast(&in, &out, 1, DataType::Int8, 4).root, 4);
  EXPECT_EQ(gather(&in, &out, 1, DataType::Int8, 4).root, 4);
  EXPECT_EQ(scatter(&in, &out, 1, DataType::Int8, 4).root, 4);
  EXPECT_EQ(reduce_scatter(&in, &out, 1, DataType::Int8, ReduceOp::Min).op, ReduceOp::Min);
}

TEST(Operation, calls_without_buffers_differ_only_in_the_buffers) {
  EXPECT_EQ(all_reduce(3, DataType::Float32, ReduceOp::Prod),
            all_reduce(nullptr, nullptr, 3, DataType::Float32, ReduceOp::Prod));
  EXPECT_EQ(all_gather(3, DataType::Float32), all_gather(nullptr, nullptr, 3, DataType::Float32));
  EXPECT_EQ(reduce_scatter(3, DataType::Float32), reduce_scatter(nullptr, nullptr, 3, DataType::Float32));
  EXPECT_EQ(all_to_all(3, DataType::Float32), all_to_all(nullptr, nullptr, 3, DataType::Float32));
  EXPECT_NE(all_to_all(3, DataType::Float32), all_gather(3, DataType::Float32));
}

TEST(Operation, counts_beyond_32_bits_do_not_wrap) {
  const Operation call = all_gather(std::uint64_t{3} << 31, DataType::Float32);
  EXPECT_EQ(output_count(call, 0, 4), std::uint64_t{3} << 33);
  EXPECT_EQ(message_bytes(call, 4), std::uint64_t{3} << 35);
}

}  // namespace
}  // namespace weft
