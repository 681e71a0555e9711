// Operators that a program makes: in which order they run, what they may be, and the factor of a pre_mul_sum.
#include "weft/operator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "comm/operators.hpp"
#include "tests/comm/support/exercise.hpp"
#include "tests/comm/support/thread_ranks.hpp"

namespace weft::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

testing::JobOptions local_job() {
  testing::JobOptions job;
  job.options.timeout_ms = 20'000;
  return job;
}

// A run of ranks. Joining two gives a run only if the second begins where the first ends.
struct Stretch {
  std::int32_t first;
  std::int32_t last;
  std::int32_t element;
  std::int32_t broken;

  bool operator==(const Stretch&) const = default;
};

void join(void* context, void* result, const void* a, const void* b, std::size_t count) {
  if (context != nullptr) ++*static_cast<std::atomic<int>*>(context);
  for (std::size_t i = 0; i < count; ++i) {
    Stretch left;
    Stretch right;
    std::memcpy(&left, static_cast<const char*>(a) + i * sizeof(Stretch), sizeof(Stretch));
    std::memcpy(&right, static_cast<const char*>(b) + i * sizeof(Stretch), sizeof(Stretch));
    const bool joins = left.last + 1 == right.first && left.element == right.element;
    const Stretch both{left.first, right.last, left.element, left.broken + right.broken + (joins ? 0 : 1)};
    std::memcpy(static_cast<char*>(result) + i * sizeof(Stretch), &both, sizeof(Stretch));
  }
}

Operator joining() {
  Operator made;
  made.name = "join";
  made.dtype = *opaque_type(sizeof(Stretch));
  made.combine = &join;
  return made;
}

void expect_whole(const Stretch* out, std::uint64_t count, std::int32_t first_element, int size) {
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    wrong += out[i] == Stretch{0, size - 1, first_element + static_cast<std::int32_t>(i), 0} ? 0 : 1;
  EXPECT_EQ(wrong, 0U) << "of " << count << ": the first is of ranks " << out[0].first << " to " << out[0].last << ", "
                       << out[0].broken << " joints broken";
}

std::vector<Stretch> own_runs(int rank, std::uint64_t count) {
  std::vector<Stretch> runs;
  for (std::uint64_t i = 0; i < count; ++i) runs.push_back({rank, rank, static_cast<std::int32_t>(i), 0});
  return runs;
}

void join_everything(CommunicatorState& communicator, ReduceOp op, std::uint64_t count) {
  const int rank = communicator.rank();
  const int size = communicator.size();
  const DataType dtype = *opaque_type(sizeof(Stretch));
  const std::vector<Stretch> in = own_runs(rank, count);
  std::vector<Stretch> out(count);
  Status status = communicator.run(all_reduce(in.data(), out.data(), count, dtype, op));
  ASSERT_TRUE(status.ok()) << status.to_string();
  expect_whole(out.data(), count, 0, size);
  out = in;
  ASSERT_TRUE(communicator.run(all_reduce(out.data(), out.data(), count, dtype, op)).ok());
  expect_whole(out.data(), count, 0, size);
  const int root = size / 2;
  out.assign(count, {});
  ASSERT_TRUE(communicator.run(reduce(in.data(), out.data(), count, dtype, op, root)).ok());
  if (rank == root) expect_whole(out.data(), count, 0, size);
  const std::vector<Stretch> blocks = own_runs(rank, count * static_cast<std::uint64_t>(size));
  ASSERT_TRUE(communicator.run(reduce_scatter(blocks.data(), out.data(), count, dtype, op)).ok());
  expect_whole(out.data(), count, static_cast<std::int32_t>(count) * rank, size);
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(size));
  std::iota(counts.begin(), counts.end(), 0);
  const std::vector<Stretch> uneven = own_runs(rank, std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  out.assign(static_cast<std::size_t>(size), {});
  ASSERT_TRUE(communicator.run(reduce_scatter_v(uneven.data(), {.counts = counts.data()}, out.data(), dtype, op)).ok());
  if (rank > 0) expect_whole(out.data(), counts[static_cast<std::size_t>(rank)], rank * (rank - 1) / 2, size);
}

TEST(Operators, one_that_does_not_commute_gets_the_ranks_in_their_order) {
  for (const char* transport : {"local", "sim"}) {
    for (const int size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12}) {
      testing::JobOptions job = local_job();
      job.transport = transport;
      testing::run_job(size, job, [&](CommunicatorState& communicator) {
        const auto op = communicator.operators().create(joining());
        ASSERT_TRUE(op.has_value()) << op.status().to_string();
        for (const std::uint64_t count : {1, 7, 1000}) join_everything(communicator, *op, count);
      });
    }
  }
}

// Longer than a slot, a block of write_move, and a pass.
TEST(Operators, elements_are_never_cut) {
  testing::run_job(4, local_job(), [&](CommunicatorState& communicator) {
    const auto op = communicator.operators().create(joining());
    ASSERT_TRUE(op.has_value());
    join_everything(communicator, *op, 100'001);
  });
}

TEST(Operators, every_algorithm_that_keeps_to_the_order_does_so_on_several_hosts_and_channels) {
  for (const Algorithm* algorithm : all_algorithms()) {
    if (!algorithm->invariant || algorithm->collective == Collective::ReduceScatter) continue;
    for (const int size : {4, 6, 7}) {
      testing::JobOptions job =
          testing::job_with("local", *algorithm, algorithm->native_channels * (algorithm->replicable ? 2 : 1));
      for (int rank = 0; rank < size; ++rank) job.host_ids.push_back(rank < size / 2 ? "left" : "right");
      job.transport = "sim";
      testing::run_job(size, job, [&](CommunicatorState& communicator) {
        const auto op = communicator.operators().create(joining());
        ASSERT_TRUE(op.has_value());
        const std::vector<Stretch> in = own_runs(communicator.rank(), 500);
        std::vector<Stretch> out(500);
        Operation operation = all_reduce(in.data(), out.data(), 500, *opaque_type(sizeof(Stretch)), *op);
        operation.collective = algorithm->collective;
        const Status status = communicator.run(operation);
        ASSERT_TRUE(status.ok()) << algorithm->name << ": " << status.to_string();
        if (algorithm->collective == Collective::AllReduce || communicator.rank() == 0)
          expect_whole(out.data(), 500, 0, size);
      });
    }
  }
}

TEST(Operators, what_a_promise_allows_decides_which_algorithms_run) {
  testing::JobOptions job = local_job();
  job.options.algorithms = "all_reduce:ring";
  testing::run_job(4, job, [](CommunicatorState& communicator) {
    Operator made = joining();
    const auto ordered = communicator.operators().create(made);
    made.commutative = true;
    const auto commutes = communicator.operators().create(made);
    made.associative = false;
    const auto only_commutes = communicator.operators().create(made);
    ASSERT_TRUE(ordered.has_value() && commutes.has_value() && only_commutes.has_value());
    const auto winner = [&](ReduceOp op) {
      const auto choice = communicator.explain(all_reduce(1000, made.dtype, op));
      return choice.has_value() ? choice->winner().algorithm : choice.status().to_string();
    };
    EXPECT_EQ(winner(*commutes), "ring");
    EXPECT_NE(winner(*ordered), "ring");
    EXPECT_NE(winner(*only_commutes), "ring");
  });
}

void largest_magnitude(void*, void* result, const void* a, const void* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float left = static_cast<const float*>(a)[i];
    const float right = static_cast<const float*>(b)[i];
    static_cast<float*>(result)[i] = std::max(std::fabs(left), std::fabs(right));
  }
}

TEST(Operators, one_that_commutes_runs_on_any_algorithm) {
  for (const Algorithm* algorithm : all_algorithms()) {
    if (algorithm->collective != Collective::AllReduce) continue;
    testing::run_job(5, testing::job_with("local", *algorithm, 0), [&](CommunicatorState& communicator) {
      const auto op = communicator.operators().create({.name = "largest_magnitude",
                                                       .dtype = DataType::Float32,
                                                       .combine = &largest_magnitude,
                                                       .commutative = true});
      ASSERT_TRUE(op.has_value());
      std::vector<float> in(3000, static_cast<float>(communicator.rank() == 3 ? -9 : communicator.rank()));
      std::vector<float> out(3000);
      const Status status = communicator.run(all_reduce(in.data(), out.data(), in.size(), DataType::Float32, *op));
      ASSERT_TRUE(status.ok()) << status.to_string();
      EXPECT_EQ(std::count(out.begin(), out.end(), 9.0F), 3000) << algorithm->name;
    });
  }
}

// The outcome of a call for which rank 1 changes its operator.
void expect_told(const std::function<void(Operator& made)>& change, bool as_list, const std::string& words) {
  testing::run_job(2, local_job(), [&](CommunicatorState& communicator) {
    Operator made = joining();
    if (communicator.rank() == 1) change(made);
    const auto op = communicator.operators().create(made);
    ASSERT_TRUE(op.has_value());
    std::vector<Stretch> data = own_runs(communicator.rank(), 10);
    const Operation half = all_reduce(data.data(), data.data(), 5, made.dtype, *op);
    Operation other_half = half;
    other_half.in = other_half.out = data.data() + 5;
    const Status status = as_list ? communicator.run(std::array<Operation, 2>{half, other_half})
                                  : communicator.run(all_reduce(data.data(), data.data(), 10, made.dtype, *op));
    EXPECT_EQ(status.code(), Code::Mismatch) << status.to_string();
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
  });
}

TEST(Operators, ranks_that_made_different_ones_are_told) {
  const auto rename = [](Operator& made) { made.name = "join otherwise"; };
  expect_told(rename, false,
              "all_reduce #1 of 10 bytes16, user_defined but rank 0's operator is 'join' (does not "
              "commute, is associative), rank 1's 'join otherwise' (does not commute, is associative)");
  expect_told(rename, true, "rank 1's 'join otherwise'");
  expect_told([](Operator& made) { made.associative = false; }, false,
              "'join' (does not commute, is associative), rank 1's 'join' (does not commute, is not associative)");
  expect_told([](Operator& made) { made.commutative = true; }, false, "rank 1's 'join' (commutes, is associative)");
}

TEST(Operators, handles_need_not_be_the_same) {
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    std::vector<ReduceOp> made;
    for (int i = 0; i <= communicator.rank(); ++i) made.push_back(*communicator.operators().create(joining()));
    join_everything(communicator, made.back(), 10);
  });
}

TEST(Operators, what_makes_no_sense_is_refused) {
  testing::run_job(1, local_job(), [](CommunicatorState& communicator) {
    Operators& operators = communicator.operators();
    const auto refused = [&](const Status& status, const char* words) {
      EXPECT_EQ(status.code(), Code::InvalidArgument) << status.to_string();
      EXPECT_THAT(std::string(status.message()), HasSubstr(words));
    };
    Operator none = joining();
    none.combine = nullptr;
    refused(operators.create(none).status(), "combine is null");
    Operator nameless = joining();
    nameless.name = "";
    refused(operators.create(nameless).status(), "give it a name");
    Operator typeless = joining();
    typeless.dtype = static_cast<DataType>(200);
    refused(operators.create(typeless).status(), "no such data type");
    refused(operators.create_pre_mul_sum(DataType::Bool, 2).status(), "bool cannot be multiplied");
    refused(operators.create_pre_mul_sum(*opaque_type(8), 2).status(), "bytes8 cannot be multiplied");
    refused(operators.create_pre_mul_sum(DataType::Int32, 0.5).status(), "the factor 0.5 is no int32");
    refused(operators.create_pre_mul_sum(DataType::UInt32, -1).status(), "the factor -1 is no uint32");
    refused(operators.create_pre_mul_sum(DataType::Int64, NAN).status(), "is no int64");
    refused(operators.create_pre_mul_sum(DataType::Int8, 300).status(),
            "the factor 300 is no int8; give a whole number "
            "from -128 to 127");
    refused(operators.create_pre_mul_sum(DataType::Int8, -129).status(), "the factor -129 is no int8");
    refused(operators.create_pre_mul_sum(DataType::UInt8, 300).status(), "from 0 to 255");
    refused(operators.create_pre_mul_sum(DataType::Int32, 3e9).status(), "from -2147483648 to 2147483647");
    refused(operators.create_pre_mul_sum(DataType::UInt32, 5e9).status(), "from 0 to 4294967295");
    refused(operators.create_pre_mul_sum(DataType::UInt64, 1e16).status(), "from 0 to 9007199254740992");
    for (const auto& [dtype, factor] : {std::pair(DataType::Int8, -128.0),
                                        {DataType::UInt8, 255.0},
                                        {DataType::UInt32, 4294967295.0},
                                        {DataType::Float8E4M3, 1e6}}) {
      const auto held = operators.create_pre_mul_sum(dtype, factor);
      EXPECT_TRUE(held.has_value() && operators.destroy(*held).ok()) << to_string(dtype) << " " << factor;
    }

    const ReduceOp op = *operators.create(joining());
    float value = 1;
    refused(communicator.run(all_reduce(&value, &value, 1, DataType::Float32, op)),
            "the operator join was made for bytes16, not for float32");
    refused(communicator.run(all_reduce(&value, &value, 1, DataType::Float32, static_cast<ReduceOp>(90))),
            "has no such operator");
    refused(communicator.run(all_reduce(&value, &value, 1, DataType::Float32, ReduceOp::PreMulSum)),
            "must be made for the communicator first");
    refused(communicator.run(all_reduce(&value, &value, 1, *opaque_type(4))), "sum is not defined for bytes4");
    EXPECT_TRUE(communicator.destroy_operator(op).ok());
    refused(communicator.destroy_operator(op), "has no such operator");
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{3}, std::size_t{24}, std::size_t{8192}})
      EXPECT_FALSE(opaque_type(bytes).has_value()) << bytes;
    for (int i = 0; i < Operators::kMax; ++i) EXPECT_TRUE(operators.create(joining()).has_value()) << i;
    EXPECT_EQ(operators.create(joining()).status().code(), Code::ResourceExhausted);
  });
}

void multiply_ints(void*, void* result, const void* a, const void* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    static_cast<int*>(result)[i] = static_cast<const int*>(a)[i] * static_cast<const int*>(b)[i];
}

// Also after others took its place: a plan of it would run them.
TEST(Operators, a_handle_of_one_that_was_destroyed_finds_none) {
  Options options;
  options.rank = 0;
  options.size = 1;
  auto communicator = Communicator::create(options);
  ASSERT_TRUE(communicator.has_value()) << communicator.status().to_string();
  const Operator product{.name = "product", .dtype = DataType::Int32, .combine = &multiply_ints, .commutative = true};
  const auto old = communicator->create_operator(product);
  ASSERT_TRUE(old.has_value());
  std::int32_t value = 2;
  auto plan = communicator->prepare(all_reduce(&value, &value, 1, DataType::Int32, *old));
  ASSERT_TRUE(plan.has_value() && plan->run(&value, &value).ok());
  ASSERT_TRUE(communicator->destroy_operator(*old).ok());
  for (int i = 0; i < Operators::kHandles - Operators::kMax; ++i) {
    const auto made = communicator->create_operator(product);
    ASSERT_TRUE(made.has_value() && *made != *old) << i;
    EXPECT_EQ(plan->run(&value, &value).code(), Code::InvalidArgument);
    EXPECT_EQ(communicator->destroy_operator(*old).code(), Code::InvalidArgument);
    if (i >= Operators::kMax / 2) {
      ASSERT_TRUE(communicator->destroy_operator(*made).ok());
    }
  }
  // However often: there are always some to give.
  for (int i = 0; i < 3 * Operators::kHandles; ++i) {
    const auto made = communicator->create_operator(product);
    ASSERT_TRUE(made.has_value()) << i;
    ASSERT_TRUE(communicator->all_reduce(&value, &value, 1, DataType::Int32, *made).ok());
    ASSERT_TRUE(communicator->destroy_operator(*made).ok());
  }
}

TEST(Operators, one_that_is_in_use_is_not_destroyed) {
  std::atomic<int> calls = 0;
  testing::run_job(2, local_job(), [&](CommunicatorState& communicator) {
    Operator made = joining();
    made.context = &calls;
    const ReduceOp op = *communicator.operators().create(made);
    std::vector<Stretch> data = own_runs(communicator.rank(), 50'000);
    std::uint32_t ticket = 0;
    ASSERT_TRUE(communicator.start(all_reduce(data.data(), data.data(), data.size(), made.dtype, op), &ticket).ok());
    if (!communicator.test(ticket)) {
      EXPECT_EQ(communicator.destroy_operator(op).code(), Code::InvalidArgument);
    }
    ASSERT_TRUE(communicator.wait(ticket).ok());
    EXPECT_TRUE(communicator.destroy_operator(op).ok());
    const ReduceOp again = *communicator.operators().create(made);
    join_everything(communicator, again, 20);
  });
  EXPECT_GT(calls, 0);
}

TEST(Operators, opaque_elements_are_moved_like_any_other) {
  testing::run_job(3, local_job(), [](CommunicatorState& communicator) {
    const std::vector<Stretch> own = own_runs(communicator.rank(), 5);
    std::vector<Stretch> all(15);
    ASSERT_TRUE(communicator.run(all_gather(own.data(), all.data(), 5, *opaque_type(sizeof(Stretch)))).ok());
    for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(all[static_cast<std::size_t>(rank) * 5 + 4], own_runs(rank, 5)[4]);
  });
}

template <typename T>
void expect_weighted_sums(CommunicatorState& communicator, DataType dtype) {
  const int rank = communicator.rank();
  const int size = communicator.size();
  constexpr std::size_t kCount = 300;
  const auto op = communicator.operators().create_pre_mul_sum(dtype, rank + 2);
  ASSERT_TRUE(op.has_value()) << op.status().to_string();
  const std::size_t elements = kCount * static_cast<std::size_t>(size);
  std::vector<T> in(elements);
  for (std::size_t i = 0; i < elements; ++i) in[i] = static_cast<T>(i % 7 + static_cast<std::size_t>(rank));
  const std::vector<T> before = in;
  const auto expected = [&](std::size_t i) {
    T sum = 0;
    for (int one = 0; one < size; ++one)
      sum = static_cast<T>(sum +
                           static_cast<T>((i % 7 + static_cast<std::size_t>(one)) * static_cast<std::size_t>(one + 2)));
    return sum;
  };
  std::vector<T> out(elements);
  ASSERT_TRUE(communicator.run(all_reduce(in.data(), out.data(), elements, dtype, *op)).ok());
  for (std::size_t i = 0; i < elements; ++i) ASSERT_EQ(out[i], expected(i)) << i;
  out.assign(elements, 0);
  ASSERT_TRUE(communicator.run(reduce(in.data(), rank == 1 ? out.data() : nullptr, elements, dtype, *op, 1)).ok());
  if (rank == 1) {
    for (std::size_t i = 0; i < elements; ++i) ASSERT_EQ(out[i], expected(i)) << i;
  }
  const std::size_t own = kCount * static_cast<std::size_t>(rank);
  ASSERT_TRUE(communicator.run(reduce_scatter(in.data(), out.data(), kCount, dtype, *op)).ok());
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(out[i], expected(own + i)) << i;
  EXPECT_EQ(in, before) << "inputs are not written";
  ASSERT_TRUE(communicator.run(reduce_scatter(in.data(), in.data() + own, kCount, dtype, *op)).ok());
  for (std::size_t i = 0; i < elements; ++i)
    ASSERT_EQ(in[i], i >= own && i < own + kCount ? expected(i) : before[i]) << "in place, " << i;
  in = before;
  std::uint32_t ticket = 0;
  ASSERT_TRUE(communicator.start(all_reduce(in.data(), in.data(), elements, dtype, *op), &ticket).ok());
  ASSERT_TRUE(communicator.destroy_operator(*op).ok()) << "the factor was applied already";
  ASSERT_TRUE(communicator.wait(ticket).ok());
  for (std::size_t i = 0; i < elements; ++i) ASSERT_EQ(in[i], expected(i)) << i;
}

TEST(PreMulSum, every_rank_gives_a_factor_of_its_own) {
  testing::run_job(3, local_job(), [](CommunicatorState& communicator) {
    expect_weighted_sums<float>(communicator, DataType::Float32);
    expect_weighted_sums<double>(communicator, DataType::Float64);
    expect_weighted_sums<std::int32_t>(communicator, DataType::Int32);
    expect_weighted_sums<std::uint64_t>(communicator, DataType::UInt64);
    expect_weighted_sums<std::int8_t>(communicator, DataType::Int8);
  });
}

TEST(PreMulSum, products_are_rounded_to_the_type_and_integers_wrap) {
  const std::uint16_t half[] = {0x3c00, 0x3555, 0x7bff, 0x7e00, 0xfc00};  // 1, 0.33325, 65504, NaN, -infinity
  std::uint16_t product[5];
  multiply(product, half, 5, DataType::Float16, 3);
  EXPECT_THAT(product, ::testing::ElementsAre(0x4200, 0x3c00, 0x7c00, 0x7e00, 0xfc00));
  const std::uint16_t brain[] = {0x3f80, 0x3f81};  // 1, 1.0078125
  multiply(product, brain, 2, DataType::BFloat16, 1.0 / 3);
  EXPECT_EQ(product[0], 0x3eab);
  const std::int8_t small[] = {100, -7, 1};
  std::int8_t out[3];
  multiply(out, small, 3, DataType::Int8, -3);
  EXPECT_THAT(out, ::testing::ElementsAre(-44, 21, -3));
  const std::int64_t large[] = {std::int64_t{1} << 40, -5};
  std::int64_t wide[2];
  multiply(wide, large, 2, DataType::Int64, -9007199254740992.0);
  EXPECT_THAT(wide, ::testing::ElementsAre(0, 45035996273704960));
}

TEST(PreMulSum, a_rank_that_sums_without_a_factor_made_another_call) {
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    float value = 1;
    const ReduceOp op =
        communicator.rank() == 0 ? ReduceOp::Sum : *communicator.operators().create_pre_mul_sum(DataType::Float32, 2);
    const Status status = communicator.run(all_reduce(&value, &value, 1, DataType::Float32, op));
    EXPECT_EQ(status.code(), Code::Mismatch) << status.to_string();
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("float32, sum"), HasSubstr("float32, pre_mul_sum")));
  });
}

}  // namespace
}  // namespace weft::comm
