// The v-variants: blocks of any size that lie anywhere, through every algorithm that serves them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>

#include "tests/comm/support/exercise.hpp"
#include "tests/comm/support/thread_ranks.hpp"
#include "tests/comm/support/uneven_calls.hpp"
#include "weft/communicator.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::comm {
namespace {

using testing::Counts;
using testing::kUntouched;
using testing::Sizes;
using testing::UnevenCall;
using testing::Values;

std::uint64_t skewed(int from, int to) { return static_cast<std::uint64_t>((from * 7 + to * 13) % 11) * 37; }
std::uint64_t nothing(int, int) { return 0; }
std::uint64_t one_long(int from, int to) { return from == to ? 50'000 : 1; }
std::uint64_t only_from_zero(int from, int) { return from == 0 ? 300 : 0; }
std::uint64_t tiny(int from, int to) { return static_cast<std::uint64_t>(from + to) % 3; }
std::uint64_t symmetric(int from, int to) { return static_cast<std::uint64_t>(1 + from + to) * 17; }

constexpr Collective kWithBlocks[] = {Collective::AllGather, Collective::ReduceScatter, Collective::AllToAll,
                                      Collective::Gather, Collective::Scatter};

// Every algorithm that serves them, with jobs of several sizes over `transport`.
template <typename Body>
int for_each_algorithm(const char* transport, std::initializer_list<int> sizes, int channels, Body body) {
  int ran = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    const Request request = {.collective = algorithm->collective, .count = 10, .uneven = true};
    const bool has_blocks =
        std::find(std::begin(kWithBlocks), std::end(kWithBlocks), algorithm->collective) != std::end(kWithBlocks);
    if (!has_blocks || !algorithm->unsupported(flat_group(4), request).empty()) continue;
    ++ran;
    for (const int size : sizes) {
      testing::run_job(size, testing::job_with(transport, *algorithm, channels), [&](CommunicatorState& communicator) {
        body(*algorithm, communicator);
        EXPECT_TRUE(communicator.run(barrier()).ok());  // nobody leaves before the others have come
      });
    }
  }
  return ran;
}

class Everywhere : public ::testing::TestWithParam<const char*> {};

TEST_P(Everywhere, every_algorithm_moves_blocks_of_any_size_that_lie_anywhere) {
  testing::Complaints complaints;
  const int ran =
      for_each_algorithm(GetParam(), {1, 2, 3, 6}, 0, [&](const Algorithm& algorithm, CommunicatorState& communicator) {
        for (const Sizes sizes : {skewed, nothing, one_long, only_from_zero}) {
          for (const bool apart : {false, true}) {
            const int size = communicator.size();
            const UnevenCall call = {algorithm.collective, sizes, communicator.rank(), size, size - 1, apart};
            complaints.add(fmt::format("{}/{} rank {} of {}{}", to_string(algorithm.collective), algorithm.name,
                                       communicator.rank(), size, apart ? " apart" : ""),
                           run_once(communicator, call));
          }
        }
      });
  EXPECT_EQ(complaints.text(), "");
  EXPECT_GE(ran, 8);
}

TEST_P(Everywhere, channels_cut_blocks_whatever_their_size) {
  testing::Complaints complaints;
  for_each_algorithm(GetParam(), {4}, 3, [&](const Algorithm& algorithm, CommunicatorState& communicator) {
    for (const Sizes sizes : {skewed, tiny}) {
      const UnevenCall call = {algorithm.collective, sizes, communicator.rank(), 4, 1, true};
      complaints.add(fmt::format("{}/{}", to_string(algorithm.collective), algorithm.name),
                     run_once(communicator, call));
    }
  });
  EXPECT_EQ(complaints.text(), "");
}

TEST_P(Everywhere, in_place_the_own_block_stays_where_it_lies) {
  testing::Complaints complaints;
  for_each_algorithm(GetParam(), {2, 5}, 0, [&](const Algorithm& algorithm, CommunicatorState& communicator) {
    constexpr int kRoot = 1;
    const Collective collective = algorithm.collective;
    const UnevenCall call = {collective, symmetric, communicator.rank(), communicator.size(), kRoot, true};
    const bool here = !has_root(collective) || communicator.rank() == kRoot;
    complaints.add(fmt::format("{}/{} rank {} of {}", to_string(collective), algorithm.name, communicator.rank(),
                               communicator.size()),
                   here ? run_in_place(communicator, call) : run_once(communicator, call));
  });
  EXPECT_EQ(complaints.text(), "");
}

INSTANTIATE_TEST_SUITE_P(Transports, Everywhere, ::testing::Values("local", "shm", "sim"),
                         [](const auto& transport) { return std::string(transport.param); });

TEST(Uneven, a_plan_keeps_the_counts_it_was_prepared_for) {
  Options options;
  options.rank = 0;
  options.size = 1;
  Result<Communicator> communicator = Communicator::create(options);
  ASSERT_TRUE(communicator) << communicator.error().to_string();
  const auto prepared = [&] {
    const Counts counts = {3};
    const Counts offsets = {2};
    return communicator->prepare(all_gather_v(nullptr, nullptr, {counts.data(), offsets.data()}, DataType::Int32));
  };
  Result<Plan> plan = prepared();
  ASSERT_TRUE(plan) << plan.error().to_string();
  const Values in = {1, 2, 3};
  Values out(6, kUntouched);
  ASSERT_TRUE(plan->run(in.data(), out.data()).ok());
  EXPECT_EQ(out, (Values{kUntouched, kUntouched, 1, 2, 3, kUntouched}));
}

// As a mixture of experts calls it: other counts at every call.
TEST(Uneven, calls_with_ever_other_counts_are_told_apart) {
  testing::Complaints complaints;
  testing::run_job(3, {}, [&](CommunicatorState& communicator) {
    constexpr std::uint64_t kMost = 709;  // a prime: no two rounds are alike, and there are more than the cache holds
    for (std::uint64_t round = 0; round < kMost; ++round) {
      const auto rank = static_cast<std::uint64_t>(communicator.rank());
      Counts sent(3);
      Counts received(3);
      for (std::uint64_t peer = 0; peer < 3; ++peer) {
        sent[peer] = (round * 31 + rank * 7 + peer * 3) % kMost;
        received[peer] = (round * 31 + peer * 7 + rank * 3) % kMost;
      }
      Values in(3 * kMost, static_cast<std::int32_t>(rank * 1000 + round));
      Values out(3 * kMost, kUntouched);
      const Status status =
          communicator.run(all_to_all_v(in.data(), {sent.data()}, out.data(), {received.data()}, DataType::Int32));
      complaints.add("all_to_all_v", std::string(status.message()));
      std::size_t at = 0;
      for (std::uint64_t peer = 0; peer < 3; ++peer)
        for (std::uint64_t i = 0; i < received[peer]; ++i, ++at)
          if (out[at] != static_cast<std::int32_t>(peer * 1000 + round))
            complaints.add("all_to_all_v", "a wrong element");
      if (at < out.size() && out[at] != kUntouched) complaints.add("all_to_all_v", "too many elements");
    }
  });
  EXPECT_EQ(complaints.text(), "");
}

}  // namespace
}  // namespace weft::comm
