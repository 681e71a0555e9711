// Symmetric memory: collectives from and into it give what they give elsewhere, and what it is freed by.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <string>

#include "comm/symmetric.hpp"
#include "tests/comm/support/thread_ranks.hpp"
#include "transports/local.hpp"
#include "weft/graph.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kBytes = std::size_t{1} << 20;

testing::JobOptions job_over(const std::string& transport, const std::string& rules = "") {
  testing::JobOptions job;
  job.transport = transport;
  job.options.timeout_ms = 20'000;
  job.options.algorithms = rules;
  return job;
}

// Each rank's numbers are its own, and sums of them are exact.
void fill(std::byte* memory, std::uint64_t count, int rank) {
  auto* const values = reinterpret_cast<float*>(memory);
  for (std::uint64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>((i * 7 + static_cast<unsigned>(rank)) % 1024);
}
float sum_at(std::uint64_t i, int size) {
  float sum = 0;
  for (int rank = 0; rank < size; ++rank) sum += static_cast<float>((i * 7 + static_cast<unsigned>(rank)) % 1024);
  return sum;
}

std::uint64_t wrong(const std::byte* memory, std::uint64_t count, int size) {
  const auto* const values = reinterpret_cast<const float*>(memory);
  std::uint64_t differ = 0;
  for (std::uint64_t i = 0; i < count; ++i) differ += values[i] != sum_at(i, size) ? 1 : 0;
  return differ;
}

class Symmetric : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Transports, Symmetric, ::testing::Values("local", "shm", "sim"),
                         [](const auto& transport) { return std::string(transport.param); });

TEST_P(Symmetric, every_all_reduce_gives_the_same_from_it_and_into_it) {
  for (const Algorithm* const algorithm : all_algorithms()) {
    if (algorithm->collective != Collective::AllReduce) continue;
    const std::string rule = "all_reduce:" + std::string(algorithm->name);
    testing::run_job(3, job_over(GetParam(), rule), [&](CommunicatorState& communicator) {
      const int size = communicator.size();
      auto in = SymmetricAllocation::create(communicator, kBytes);
      auto out = SymmetricAllocation::create(communicator, kBytes);
      ASSERT_TRUE(in.has_value() && out.has_value());
      std::vector<std::byte> plain(kBytes);
      for (const std::uint64_t count : {1000U, 5000U, 70'001U}) {
        struct Places {
          std::byte* in;
          std::byte* out;
        };
        for (const Places& places :
             {Places{(*in)->data(), (*out)->data()},
              {(*in)->data(), (*in)->data()},
              {plain.data(), (*out)->data()},
              {(*in)->data(), plain.data()},
              communicator.rank() == 1 ? Places{plain.data(), (*out)->data()} : Places{(*in)->data(), plain.data()}}) {
          for (int round = 0; round < 2; ++round) {
            fill(places.in, count, communicator.rank());
            const Status status = communicator.run(all_reduce(places.in, places.out, count, DataType::Float32));
            ASSERT_TRUE(status.ok()) << status.to_string();
            ASSERT_EQ(wrong(places.out, count, size), 0U) << rule << " of " << count << ", round " << round;
          }
        }
      }
      EXPECT_TRUE((*in)->release(communicator).ok());
      EXPECT_TRUE((*out)->release(communicator).ok());
    });
  }
}

TEST_P(Symmetric, a_source_may_be_changed_as_soon_as_the_call_returns) {
  testing::run_job(4, job_over(GetParam(), "all_gather:direct"), [](CommunicatorState& communicator) {
    const auto size = static_cast<std::uint64_t>(communicator.size());
    constexpr std::uint64_t kCount = 30'000;
    auto in = SymmetricAllocation::create(communicator, kCount * 4);
    ASSERT_TRUE(in.has_value());
    auto* const mine = reinterpret_cast<std::uint32_t*>((*in)->data());
    std::vector<std::uint32_t> out(kCount * size);
    for (std::uint32_t round = 0; round < 50; ++round) {
      std::fill_n(mine, kCount, round * 100 + static_cast<std::uint32_t>(communicator.rank()));
      ASSERT_TRUE(communicator.run(all_gather(mine, out.data(), kCount, DataType::UInt32)).ok());
      std::fill_n(mine, kCount, 0xffff'ffff);
      for (std::uint64_t rank = 0; rank < size; ++rank)
        for (const std::uint64_t i : {std::uint64_t{0}, kCount / 2, kCount - 1})
          ASSERT_EQ(out[rank * kCount + i], round * 100 + rank);
    }
    ASSERT_TRUE((*in)->release(communicator).ok());
  });
}

TEST(SymmetricMemory, says_how_many_ranks_read_it) {
  testing::run_job(3, job_over("shm"), [](CommunicatorState& communicator) {
    auto memory = SymmetricAllocation::create(communicator, 4096);
    ASSERT_TRUE(memory.has_value());
    EXPECT_EQ((*memory)->readers(), 2);
    EXPECT_EQ((*memory)->reason(), "");
  });
  testing::run_job(3, job_over("sim"), [](CommunicatorState& communicator) {
    auto memory = SymmetricAllocation::create(communicator, 4096);
    ASSERT_TRUE(memory.has_value());
    EXPECT_EQ((*memory)->readers(), 0);
  });
}

TEST(SymmetricMemory, can_be_allocated_and_freed_more_often_than_peers_may_map_at_a_time) {
  testing::run_job(2, job_over("shm"), [](CommunicatorState& communicator) {
    for (int round = 0; round < 100; ++round) {
      auto memory = SymmetricAllocation::create(communicator, 65536);
      ASSERT_TRUE(memory.has_value()) << round << ": " << memory.status().to_string();
      EXPECT_EQ((*memory)->readers(), 1);
      EXPECT_EQ(std::accumulate((*memory)->data(), (*memory)->data() + 65536, 0,
                                [](int sum, std::byte byte) { return sum + std::to_integer<int>(byte); }),
                0)
          << "not zeroed";
      std::memset((*memory)->data(), 1, 65536);
      ASSERT_TRUE((*memory)->release(communicator).ok());
    }
  });
}

// A transport that is short of memory for others to map.
class WithoutMemory final : public transports::Transport {
 public:
  explicit WithoutMemory(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}
  std::string_view name() const override { return transport_->name(); }
  std::size_t max_message() const override { return transport_->max_message(); }
  bool crosses_hosts() const override { return transport_->crosses_hosts(); }
  std::string address() const override { return transport_->address(); }
  bool reaches(std::string_view peer_address) override { return transport_->reaches(peer_address); }
  Result<std::unique_ptr<transports::Connection>> connect(int self_rank, int peer_rank, std::string_view peer_address,
                                                          int deadline_ms) override {
    return transport_->connect(self_rank, peer_rank, peer_address, deadline_ms);
  }
  Result<transports::Region> allocate(std::size_t /*bytes*/) override {
    return Status(Code::ResourceExhausted, "there is none left");
  }
  void poll() override { transport_->poll(); }

 private:
  std::unique_ptr<Transport> transport_;
};

TEST(SymmetricMemory, a_rank_without_memory_is_named_to_all) {
  const auto graph = topology::model("cpu-2socket");
  const auto stores = transports::LocalStoreHub::create(3);
  const auto hub = transports::LocalHub::create();
  testing::run_ranks(3, [&](int rank) {
    RuntimeParts parts;
    parts.options.rank = rank;
    parts.options.size = 3;
    parts.options.timeout_ms = 20'000;
    parts.store = stores->store(rank);
    parts.transports.push_back(hub->transport(rank));
    if (rank == 1) parts.transports[0] = std::make_unique<WithoutMemory>(std::move(parts.transports[0]));
    parts.graph = &*graph;
    auto runtime = Runtime::create(std::move(parts));
    ASSERT_TRUE(runtime.has_value()) << runtime.status().to_string();
    const auto communicator = CommunicatorState::root(std::move(*runtime));
    ASSERT_TRUE(communicator.has_value()) << communicator.status().to_string();
    const auto memory = SymmetricAllocation::create(**communicator, 4096);
    ASSERT_FALSE(memory.has_value());
    EXPECT_EQ(memory.error().code(), Code::ResourceExhausted) << memory.error().to_string();
    if (rank != 1) {
      EXPECT_EQ(memory.error().peer(), 1) << memory.error().to_string();
    }
    const float one = 1;
    float sum = 0;
    EXPECT_TRUE((*communicator)->run(all_reduce(&one, &sum, 1, DataType::Float32)).ok());
    EXPECT_EQ(sum, 3);
  });
}

TEST(SymmetricMemory, ranks_that_ask_for_other_sizes_are_told_so) {
  constexpr std::size_t kTooMuch = std::size_t{1} << 50;
  for (const std::array<std::size_t, 2>& bytes : {std::array<std::size_t, 2>{2000, 9000}, {0, 100}, {kTooMuch, 100}}) {
    testing::run_job(2, job_over("shm"), [&](CommunicatorState& communicator) {
      const auto memory =
          SymmetricAllocation::create(communicator, bytes[static_cast<std::size_t>(communicator.rank())]);
      EXPECT_EQ(memory.status().code(), Code::Mismatch) << memory.status().to_string();
      EXPECT_THAT(std::string(memory.status().message()),
                  HasSubstr("rank 0 called allocate #1 of " + std::to_string(bytes[0]) +
                            " bytes, rank 1 called allocate #1 of " + std::to_string(bytes[1]) + " bytes;"));
    });
  }
}

TEST(SymmetricMemory, a_free_matches_no_other_call_and_no_free_of_another_memory) {
  for (const bool barrier_on_1 : {true, false}) {
    testing::run_job(2, job_over("shm"), [&](CommunicatorState& communicator) {
      auto first = SymmetricAllocation::create(communicator, 4096);
      auto second = SymmetricAllocation::create(communicator, 4096);
      ASSERT_TRUE(first.has_value() && second.has_value());
      Status status;
      if (communicator.rank() == 0) {
        status = (*first)->release(communicator);
      } else {
        status = barrier_on_1 ? communicator.run(barrier()) : (*second)->release(communicator);
      }
      EXPECT_EQ(status.code(), Code::Mismatch) << status.to_string();
      EXPECT_THAT(std::string(status.message()),
                  AllOf(HasSubstr("rank 0 called free #5 of 4096 bytes from allocate #1, rank 1 called "),
                        HasSubstr(barrier_on_1 ? "barrier #5" : "free #5 of 4096 bytes from allocate #3")));
    });
  }
}

TEST(SymmetricMemory, one_rank_has_plain_memory) {
  testing::run_job(1, job_over("local"), [](CommunicatorState& communicator) {
    auto memory = SymmetricAllocation::create(communicator, 100);
    ASSERT_TRUE(memory.has_value());
    EXPECT_NE((*memory)->data(), nullptr);
    EXPECT_EQ((*memory)->readers(), 0);
    EXPECT_TRUE((*memory)->release(communicator).ok());
  });
}

}  // namespace
}  // namespace weft::comm
