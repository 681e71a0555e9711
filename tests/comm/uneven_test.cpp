// The v-variants: blocks of any size that lie anywhere, through every algorithm that serves them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/comm/support/exercise.hpp"
#include "tests/comm/support/thread_ranks.hpp"
#include "weft/communicator.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Counts = std::vector<std::uint64_t>;
using Values = std::vector<std::int32_t>;

constexpr std::int32_t kUntouched = -7;

// How many elements go from one rank to another.
using Sizes = std::uint64_t (*)(int from, int to);
std::uint64_t skewed(int from, int to) { return static_cast<std::uint64_t>((from * 7 + to * 13) % 11) * 37; }
std::uint64_t nothing(int, int) { return 0; }
std::uint64_t one_long(int from, int to) { return from == to ? 50'000 : 1; }
std::uint64_t only_from_zero(int from, int) { return from == 0 ? 300 : 0; }
std::uint64_t tiny(int from, int to) { return static_cast<std::uint64_t>(from + to) % 3; }
std::uint64_t symmetric(int from, int to) { return static_cast<std::uint64_t>(1 + from + to) * 17; }

// The blocks of one buffer: counts, and where they lie.
struct Row {
  Counts counts;
  Counts offsets;

  // `apart`: in reverse order with gaps between them.
  Row(Counts sizes, bool apart) : counts(std::move(sizes)), offsets(counts.size()) {
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::size_t block = apart ? counts.size() - 1 - i : i;
      offsets[block] = end;
      end += counts[block] + (apart ? 3 : 0);
    }
    extent = end;
  }
  Blocks blocks() const { return {counts.data(), offsets.data()}; }

  std::uint64_t extent = 0;
};

std::int32_t value(int from, int block, std::uint64_t index) {
  return from * 1'000'003 + block * 1'009 + static_cast<std::int32_t>(index);
}

// What one rank of a call gives and must get.
class Side {
 public:
  Side(Collective collective, Sizes sizes, int rank, int size, int root, bool apart)
      : collective_(collective),
        sizes_(sizes),
        rank_(rank),
        size_(size),
        root_(root),
        in_(row(true), apart),
        out_(row(false), apart) {}

  Operation call(const Values& in, Values& out) const {
    const std::int32_t* const from = in.data();
    switch (collective_) {
      case Collective::AllGather:
        return all_gather_v(from, out.data(), out_.blocks(), DataType::Int32);
      case Collective::ReduceScatter:
        return reduce_scatter_v(from, in_.blocks(), out.data(), DataType::Int32);
      case Collective::AllToAll:
        return all_to_all_v(from, in_.blocks(), out.data(), out_.blocks(), DataType::Int32);
      case Collective::Gather:
        return gather_v(from, sizes_(rank_, root_), out.data(), out_.blocks(), DataType::Int32, root_);
      default:
        return scatter_v(from, in_.blocks(), out.data(), sizes_(root_, rank_), DataType::Int32, root_);
    }
  }

  Values input() const {
    return filled(in_, kUntouched, [&](int block, std::uint64_t i) { return given(rank_, block, i); });
  }
  Values untouched() const { return Values(std::max<std::uint64_t>(1, out_.extent), kUntouched); }
  Values expected() const {
    return filled(out_, kUntouched, [&](int block, std::uint64_t i) { return result(block, i); });
  }
  bool reads_all() const {
    return collective_ == Collective::ReduceScatter || collective_ == Collective::AllToAll ||
           (collective_ == Collective::Scatter && rank_ == root_);
  }
  // The own block, and where it lies in the buffer of all.
  std::uint64_t own_count() const { return all().counts[static_cast<std::size_t>(rank_)]; }
  std::uint64_t own_offset() const { return all().offsets[static_cast<std::size_t>(rank_)]; }

 private:
  const Row& all() const { return reads_all() ? in_ : out_; }
  bool writes_all() const {
    return collective_ == Collective::AllGather || collective_ == Collective::AllToAll ||
           (collective_ == Collective::Gather && rank_ == root_);
  }
  // Elements of a block of all: that of reduce_scatter must not depend on the rank that gives it.
  std::uint64_t elements(int block, bool input) const {
    switch (collective_) {
      case Collective::AllGather:
      case Collective::ReduceScatter:
        return sizes_(block, 0);
      case Collective::AllToAll:
        return input ? sizes_(rank_, block) : sizes_(block, rank_);
      case Collective::Gather:
        return sizes_(block, root_);
      default:
        return sizes_(root_, block);
    }
  }
  Counts row(bool input) const {
    Counts counts;
    if (input ? reads_all() : writes_all()) {
      for (int block = 0; block < size_; ++block) counts.push_back(elements(block, input));
    } else if ((input && collective_ != Collective::Scatter) || (!input && collective_ != Collective::Gather)) {
      counts.push_back(elements(rank_, input));
    }
    return counts;
  }
  std::int32_t given(int from, int block, std::uint64_t i) const { return value(from, reads_all() ? block : from, i); }
  std::int32_t result(int block, std::uint64_t i) const {
    switch (collective_) {
      case Collective::AllGather:
      case Collective::Gather:
        return value(block, block, i);
      case Collective::AllToAll:
        return value(block, rank_, i);
      case Collective::Scatter:
        return value(root_, rank_, i);
      default: {
        std::int32_t sum = 0;
        for (int from = 0; from < size_; ++from) sum += value(from, rank_, i);
        return sum;
      }
    }
  }
  template <typename Element>
  static Values filled(const Row& row, std::int32_t gap, Element element) {
    Values values(std::max<std::uint64_t>(1, row.extent), gap);
    for (std::size_t block = 0; block < row.counts.size(); ++block)
      for (std::uint64_t i = 0; i < row.counts[block]; ++i)
        values[row.offsets[block] + i] = element(static_cast<int>(block), i);
    return values;
  }

  Collective collective_;
  Sizes sizes_;
  int rank_;
  int size_;
  int root_;
  Row in_;
  Row out_;
};

constexpr Collective kWithBlocks[] = {Collective::AllGather, Collective::ReduceScatter, Collective::AllToAll,
                                      Collective::Gather, Collective::Scatter};

std::string wrong(const Values& got, const Values& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (got[i] != expected[i]) return fmt::format("element {} is {}, expected {}", i, got[i], expected[i]);
  return {};
}

std::string run_once(CommunicatorState& communicator, const Side& side) {
  const Values input = side.input();
  Values in = input;
  Values out = side.untouched();
  if (const Status status = communicator.run(side.call(in, out)); !status.ok()) return std::string(status.message());
  if (in != input) return "the input was written";
  return wrong(out, side.expected());
}

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
            const Side side(algorithm.collective, sizes, communicator.rank(), size, size - 1, apart);
            complaints.add(fmt::format("{}/{} rank {} of {}{}", to_string(algorithm.collective), algorithm.name,
                                       communicator.rank(), size, apart ? " apart" : ""),
                           run_once(communicator, side));
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
      const Side side(algorithm.collective, sizes, communicator.rank(), 4, 1, true);
      complaints.add(fmt::format("{}/{}", to_string(algorithm.collective), algorithm.name),
                     run_once(communicator, side));
    }
  });
  EXPECT_EQ(complaints.text(), "");
}

// The own block already lies in the other buffer.
std::string run_in_place(CommunicatorState& communicator, const Side& side, Collective collective) {
  const bool reads_all = side.reads_all();
  const Values expected = side.expected();
  Values all = reads_all ? side.input() : side.untouched();
  const auto own = static_cast<std::ptrdiff_t>(side.own_offset());
  if (!reads_all) {
    const Values given = side.input();
    std::copy(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(side.own_count()), all.begin() + own);
  }
  Operation call = side.call(all, all);
  if (collective != Collective::AllToAll) (reads_all ? call.out : *const_cast<void**>(&call.in)) = all.data() + own;
  if (const Status status = communicator.run(call); !status.ok()) return std::string(status.message());
  if (collective == Collective::AllToAll || !reads_all) return wrong(all, expected);
  const Values result(all.begin() + own, all.begin() + own + static_cast<std::ptrdiff_t>(side.own_count()));
  return result == Values(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(side.own_count()))
             ? std::string()
             : "wrong";
}

TEST_P(Everywhere, in_place_the_own_block_stays_where_it_lies) {
  testing::Complaints complaints;
  for_each_algorithm(GetParam(), {2, 5}, 0, [&](const Algorithm& algorithm, CommunicatorState& communicator) {
    constexpr int kRoot = 1;
    const Collective collective = algorithm.collective;
    const Side side(collective, symmetric, communicator.rank(), communicator.size(), kRoot, true);
    const bool here = !has_root(collective) || communicator.rank() == kRoot;
    complaints.add(fmt::format("{}/{} rank {} of {}", to_string(collective), algorithm.name, communicator.rank(),
                               communicator.size()),
                   here ? run_in_place(communicator, side, collective) : run_once(communicator, side));
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

// Also where all slices of a message are whole (16,384 elements make one).
TEST(Uneven, a_sender_and_a_receiver_that_differ_get_an_error_that_names_both) {
  for (const char* transport : {"local", "ucx"}) {
    for (const auto& [sent, claimed] :
         std::initializer_list<std::pair<std::uint64_t, std::uint64_t>>{{10, 0},
                                                                        {10, 9},
                                                                        {10, 11},
                                                                        {10, 200'000},
                                                                        {16'384, 32'768},
                                                                        {32'768, 16'384},
                                                                        {0, 5},
                                                                        {131'072, 65'536}}) {
      testing::JobOptions job;
      job.transport = transport;
      testing::run_job(2, job, [&](CommunicatorState& communicator) {
        const bool liar = communicator.rank() == 1;
        const Counts out_counts = {sent, sent};
        const Counts in_counts = {liar ? claimed : sent, sent};
        const Values in(2 * sent, 1);
        Values out(claimed + 2 * sent, 0);
        Status status = communicator.run(
            all_to_all_v(in.data(), {out_counts.data()}, out.data(), {in_counts.data()}, DataType::Int32));
        EXPECT_TRUE(!liar || status.code() == Code::Mismatch) << transport << " " << sent << " " << claimed;
        if (status.ok()) status = communicator.run(barrier());
        EXPECT_EQ(status.code(), Code::Mismatch) << transport << " " << claimed << ": " << status.message();
        EXPECT_THAT(std::string(status.message()),
                    AllOf(HasSubstr("rank 1 called all_to_all_v #1"), HasSubstr("rank 0 sent it"),
                          HasSubstr("counts of sender and receiver must agree")));
      });
    }
  }
}

TEST(Uneven, ranks_that_gather_other_counts_get_an_error) {
  testing::run_job(2, {}, [&](CommunicatorState& communicator) {
    const Counts counts = communicator.rank() == 0 ? Counts{4, 6} : Counts{6, 4};
    const Values in(6, 1);
    Values out(10, 0);
    const Status status = communicator.run(all_gather_v(in.data(), out.data(), {counts.data()}, DataType::Int32));
    EXPECT_EQ(status.code(), Code::Mismatch) << status.message();
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("all_gather_v #1 of int32, about 5 a rank"),
                      HasSubstr("their counts differ, and all ranks must give equal ones")));
  });
}

TEST(Uneven, blocks_that_make_no_sense_are_refused_by_name) {
  testing::run_job(1, {}, [&](CommunicatorState& communicator) {
    const auto refusal = [&](const Operation& call) { return std::string(communicator.run(call).message()); };
    const Counts two = {2};
    const Counts three = {3};
    const Counts huge = {std::uint64_t{1} << 60};
    Values buffer(10, 0);
    Values other(10, 0);
    EXPECT_THAT(refusal(all_gather_v(buffer.data(), other.data(), {}, DataType::Int32)),
                HasSubstr("all_gather_v: out_blocks.counts is null"));
    EXPECT_THAT(refusal(all_gather_v(buffer.data(), other.data(), {huge.data()}, DataType::Int32)),
                HasSubstr("out_blocks 0 has 1152921504606846976 elements"));
    EXPECT_THAT(refusal(all_to_all_v(buffer.data(), {two.data()}, other.data(), {three.data()}, DataType::Int32)),
                HasSubstr("rank 0 sends 2 elements to itself but wants to receive 3"));
    EXPECT_THAT(refusal(all_gather_v(buffer.data(), nullptr, {two.data()}, DataType::Int32)), HasSubstr("out is null"));
    Operation broadcast = weft::broadcast(buffer.data(), other.data(), 2, DataType::Int32);
    broadcast.uneven = true;
    EXPECT_THAT(refusal(broadcast), HasSubstr("there is no such v-variant"));
  });
  testing::run_job(2, {}, [&](CommunicatorState& communicator) {
    const Counts counts = {4, 4};
    const Counts offsets = {0, 3};
    const Values in(4, 1);
    Values out(10, 0);
    const Status status =
        communicator.run(all_gather_v(in.data(), out.data(), {counts.data(), offsets.data()}, DataType::Int32));
    EXPECT_THAT(std::string(status.message()), HasSubstr("out_blocks 0 and 1 overlap; offsets are in elements"));
  });
}

}  // namespace
}  // namespace weft::comm
