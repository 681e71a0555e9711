// Lists of collectives in one call, and objects whose length only their sender knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tests/comm/support/exact_values.hpp"
#include "tests/comm/support/thread_ranks.hpp"

namespace weft::comm {
namespace {

testing::JobOptions job_over(const char* transport) {
  testing::JobOptions job;
  job.transport = transport;
  job.options.timeout_ms = 20'000;
  return job;
}

Operation call(Collective collective, std::uint64_t count, DataType dtype, int root = 0) {
  Operation operation;
  operation.collective = collective;
  operation.count = count;
  operation.dtype = dtype;
  operation.root = root;
  return operation;
}

// Of several kinds, types and lengths, mixed.
std::vector<Operation> some_of_everything() {
  std::vector<Operation> list;
  for (const std::uint64_t count : {1, 100, 3, 0, 20'000, 7, 1'000, 300'000, 50}) {
    list.push_back(call(Collective::AllReduce, count, DataType::Float32));
    list.push_back(call(Collective::AllGather, count, DataType::Int8));
    list.push_back(call(Collective::ReduceScatter, count, DataType::Int64));
    list.push_back(call(Collective::Broadcast, count, DataType::Float64, 1));
    list.push_back(call(Collective::Broadcast, count, DataType::Float64, 0));
    list.push_back(call(Collective::AllToAll, count, DataType::Float32));
    list.push_back(call(Collective::AllReduce, count, DataType::Int32));
  }
  return list;
}

TEST(Lists, of_all_kinds_give_what_each_call_gives_by_itself) {
  for (const char* transport : {"local", "sim"}) {
    testing::run_job(3, job_over(transport), [](CommunicatorState& communicator) {
      std::vector<Operation> list = some_of_everything();
      std::vector<testing::Buffer> in, out;
      for (const Operation& operation : list) {
        in.push_back(testing::input_of(operation, communicator.rank(), 3));
        out.emplace_back(testing::expected_of(operation, communicator.rank(), 3).size());
      }
      for (std::size_t i = 0; i < list.size(); ++i) {
        list[i].in = in[i].data();
        list[i].out = out[i].data();
      }
      for (int round = 0; round < 2; ++round) {
        const Status status = communicator.run(list);
        ASSERT_TRUE(status.ok()) << status.to_string();
      }
      for (std::size_t i = 0; i < list.size(); ++i) {
        EXPECT_EQ(testing::first_difference(list[i], out[i], testing::expected_of(list[i], communicator.rank(), 3)), "")
            << name_of(list[i]) << " " << list[i].count;
      }
      EXPECT_TRUE(communicator.close().ok());
    });
  }
}

TEST(Lists, may_be_in_place_and_one_wrong_call_starts_none) {
  testing::run_job(2, job_over("local"), [](CommunicatorState& communicator) {
    std::array<float, 4> values{1, 2, 3, 4};
    std::vector<Operation> list;
    for (float& value : values) list.push_back(all_reduce(&value, &value, 1, DataType::Float32));
    ASSERT_TRUE(communicator.run(list).ok());
    EXPECT_EQ(values, (std::array<float, 4>{2, 4, 6, 8}));
    list[2].out = nullptr;
    EXPECT_EQ(communicator.run(list).code(), Code::InvalidArgument);
    list[2] = all_reduce(&values[2], &values[2], 1, DataType::Float32, static_cast<ReduceOp>(kFirstUserOp));
    EXPECT_EQ(communicator.run(list).code(), Code::InvalidArgument) << "nobody has made that operator";
    EXPECT_EQ(values, (std::array<float, 4>{2, 4, 6, 8}));
    EXPECT_TRUE(communicator.run(std::span<const Operation>()).ok());
    EXPECT_TRUE(communicator.close().ok());
  });
}

// Ranks 0 and 1 make a list of all_reduces of such counts; both hear the error.
void expect_lists_differ(const std::array<std::vector<std::uint64_t>, 2>& counts, const std::string& words) {
  testing::run_job(2, job_over("local"), [&](CommunicatorState& communicator) {
    std::vector<float> values(100, 1);
    std::vector<Operation> list;
    float* next = values.data();
    for (const std::uint64_t count : counts[static_cast<std::size_t>(communicator.rank())]) {
      list.push_back(all_reduce(next, next, count, DataType::Float32));
      next += count;
    }
    Status status = communicator.run(list);
    if (status.ok()) status = communicator.close();
    EXPECT_EQ(status.code(), Code::Mismatch) << status.to_string();
    EXPECT_THAT(std::string(status.message()), ::testing::ContainsRegex(words));
  });
}

TEST(Lists, that_differ_are_told_also_where_they_add_up_to_as_much) {
  expect_lists_differ(
      {{{4, 2}, {2, 4}}},
      "rank 0 called all_reduce #1 of a list, together 6 float32 .counts [0-9a-f]+., sum, rank 1 called "
      "all_reduce #1 of a list, together 6 .*; their lists differ");
  expect_lists_differ({{{4, 2}, {2, 2, 2}}}, "their lists differ");
  expect_lists_differ({{{4, 2}, {3, 2}}}, "of a list, together 6 float32 .*of a list, together 5 float32");
  expect_lists_differ({{{4, 2}, {6}}}, "of a list, together 6 float32 .*, rank 1 called all_reduce #1 of 6 float32");
}

// One is exact alone in its block; next to a large number it would be rounded away.
TEST(Lists, quantised_calls_keep_blocks_of_their_own_and_others_all_their_bits) {
  testing::run_job(2, job_over("local"), [](CommunicatorState& communicator) {
    const std::array<float, 3> in{1e6F, 0.5F, 0.3F};
    std::array<float, 3> out{};
    const auto sum = [&](std::size_t i) { return all_reduce(&in[i], &out[i], 1, DataType::Float32); };
    const std::vector<Operation> list{quantised(sum(0), Quantisation::Int8), quantised(sum(1), Quantisation::Int8),
                                      sum(2)};
    const Status status = communicator.run(list);
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_NEAR(out[0], 2e6F, 2e4F);
    EXPECT_NEAR(out[1], 1.0F, 0.01F);
    EXPECT_EQ(out[2], 0.6F);
    EXPECT_TRUE(communicator.close().ok());
  });
}

std::vector<std::byte> object_of(std::size_t bytes, int seed) {
  std::vector<std::byte> object(bytes);
  for (std::size_t i = 0; i < bytes; ++i) object[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(seed));
  return object;
}

TEST(Objects, of_any_length_are_broadcast_and_gathered) {
  testing::run_job(3, job_over("local"), [](CommunicatorState& communicator) {
    int seed = 0;
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{1}, std::size_t{1'016}, std::size_t{1'017}, std::size_t{300'000}}) {
      std::vector<std::byte> object = object_of(communicator.rank() == 2 ? bytes : 4, communicator.rank());
      ASSERT_TRUE(communicator.broadcast_object(&object, 2).ok());
      EXPECT_EQ(object, object_of(bytes, 2));
      // Rank r's is r times as long.
      std::vector<std::vector<std::byte>> all;
      object = object_of(bytes * static_cast<std::size_t>(communicator.rank()), ++seed);
      ASSERT_TRUE(communicator.all_gather_objects(object, &all).ok());
      ASSERT_EQ(all.size(), 3U);
      for (std::size_t peer = 0; peer < 3; ++peer) EXPECT_EQ(all[peer], object_of(bytes * peer, seed));
    }
    std::vector<std::byte> object;
    EXPECT_EQ(communicator.broadcast_object(&object, 5).code(), Code::InvalidArgument);
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Objects, need_a_place_to_go_to) {
  Options options;
  options.rank = 0;
  options.size = 1;
  auto communicator = Communicator::create(options);
  ASSERT_TRUE(communicator.has_value()) << communicator.status().to_string();
  const std::vector<std::byte> object(3);
  const auto refused = [](const Status& status, const char* words) {
    EXPECT_EQ(status.code(), Code::InvalidArgument) << status.to_string();
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(words));
  };
  refused(communicator->broadcast(nullptr), "broadcast: object is null");
  refused(communicator->all_gather(object, nullptr), "all_gather: objects is null");
  ASSERT_TRUE(communicator->start(send(object.data(), object.size(), DataType::UInt8, 0)).wait().ok());
  refused(communicator->receive(nullptr).status(), "receive: object is null");
  std::vector<std::byte> got;
  EXPECT_TRUE(communicator->receive(&got).has_value());
  EXPECT_EQ(got, object);
  communicator->abort("enough");
  EXPECT_EQ(communicator->broadcast(nullptr).code(), Code::Aborted);
}

}  // namespace
}  // namespace weft::comm
