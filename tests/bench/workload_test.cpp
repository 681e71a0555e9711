// What weft-bench believes is a right result: a plain implementation of each collective passes, and each kind of damage
// is found.
#include "bench/weft-bench/workload.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <memory>

#include "bench/weft-bench/values.hpp"

namespace weft::bench {
namespace {

using ::testing::HasSubstr;

constexpr int kRanks = 4;
constexpr std::size_t kCapacity = 1 << 20;

// Four ranks in one process, with their inputs filled in.
class Ranks {
 public:
  explicit Ranks(const Case& what)
      : pattern_(what.call.dtype, what.call.op,
                 reduces(what.call.collective) || what.call.quantisation != Quantisation::None, kRanks) {
    for (int rank = 0; rank < kRanks; ++rank) {
      buffers_.push_back(Buffer::allocate(kCapacity).value());
      buffers_.push_back(Buffer::allocate(kCapacity).value());
    }
    for (int rank = 0; rank < kRanks; ++rank) {
      const auto at = static_cast<std::size_t>(2 * rank);
      workloads_.push_back(
          std::make_unique<Workload>(what, Place{rank, kRanks}, pattern_, Buffers{buffers_[at], buffers_[at + 1]}));
    }
  }

  // Fills, runs call number `which` in the plainest way, and gives the wrong elements of all ranks.
  std::uint64_t run(std::size_t which = 0) {
    for (auto& workload : workloads_) workload->fill(workload->calls()[which]);
    std::vector<std::vector<std::byte>> results;
    for (int rank = 0; rank < kRanks; ++rank) results.push_back(result_of(rank, which));
    for (int rank = 0; rank < kRanks; ++rank) {
      if (auto& result = results[index(rank)]; !result.empty())
        std::memcpy(call(rank, which).out, result.data(), result.size());
    }
    return wrong(which);
  }

  std::uint64_t wrong(std::size_t which = 0) const {
    std::uint64_t sum = 0;
    for (int rank = 0; rank < kRanks; ++rank) sum += verdict(rank, which).wrong;
    return sum;
  }
  Verdict verdict(int rank, std::size_t which = 0) const { return workloads_[index(rank)]->check(call(rank, which)); }
  const Operation& call(int rank, std::size_t which = 0) const { return workloads_[index(rank)]->calls()[which]; }
  std::size_t roots() const { return workloads_[0]->calls().size(); }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  const std::byte* input(int rank, std::size_t which, std::uint64_t element) const {
    return static_cast<const std::byte*>(call(rank, which).in) + element * size_of(call(rank, which).dtype);
  }

  // Element `at` of the ranks' inputs, summed.
  std::vector<std::byte> sum(std::size_t which, std::uint64_t at) const {
    const auto dtype = call(0, which).dtype;
    std::int64_t total = 0;
    for (int rank = 0; rank < kRanks; ++rank) total += static_cast<std::int64_t>(decode(dtype, input(rank, which, at)));
    std::vector<std::byte> element(size_of(dtype));
    encode(dtype, total, element.data());
    return element;
  }

  std::vector<std::byte> result_of(int rank, std::size_t which) const {
    const auto& operation = call(rank, which);
    const auto count = operation.count;
    const auto own = static_cast<std::uint64_t>(rank) * count;
    const auto bytes = size_of(operation.dtype);
    std::vector<std::byte> result;
    const auto append = [&](const std::byte* from, std::uint64_t elements) {
      result.insert(result.end(), from, from + elements * bytes);
    };
    if (output_count(operation, rank, kRanks) == 0) return result;
    for (std::uint64_t i = 0; reduces(operation.collective) && i < count; ++i) {
      append(sum(which, (operation.collective == Collective::ReduceScatter ? own : 0) + i).data(), 1);
    }
    switch (operation.collective) {
      case Collective::Broadcast:
        append(input(operation.root, which, 0), count);
        break;
      case Collective::Scatter:
        append(input(operation.root, which, own), count);
        break;
      case Collective::AllGather:
      case Collective::Gather:
        for (int from = 0; from < kRanks; ++from) append(input(from, which, 0), count);
        break;
      case Collective::AllToAll:
        for (int from = 0; from < kRanks; ++from) append(input(from, which, own), count);
        break;
      default:
        break;
    }
    return result;
  }

  Pattern pattern_;
  std::vector<Buffer> buffers_;
  std::vector<std::unique_ptr<Workload>> workloads_;
};

Case make_case(Collective collective, std::uint64_t bytes, DataType dtype = DataType::Float32, bool in_place = false) {
  Case what;
  what.call.collective = collective;
  what.call.dtype = dtype;
  what.call.op = ReduceOp::Sum;
  what.call = sized(what.call, bytes, kRanks);
  what.all_roots = has_root(collective);
  what.in_place = in_place;
  return what;
}

TEST(Workload, a_plain_implementation_of_every_collective_is_right) {
  for (int i = 0; i < kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    if (collective == Collective::Barrier) continue;
    for (const auto dtype : {DataType::Float32, DataType::BFloat16, DataType::Int8, DataType::Float64}) {
      for (const std::uint64_t bytes : {1u, 64u, 100'000u}) {
        for (const bool in_place : {false, true}) {
          Ranks ranks(make_case(collective, bytes, dtype, in_place));
          for (std::size_t root = 0; root < ranks.roots(); ++root) {
            ASSERT_EQ(ranks.run(root), 0u)
                << to_string(collective) << " " << to_string(dtype) << " " << bytes << " B, root " << root
                << (in_place ? ", in place: " : ": ") << ranks.verdict(1, root).first_wrong;
          }
        }
      }
    }
  }
}

TEST(Workload, a_call_that_does_nothing_is_wrong_everywhere) {
  Ranks ranks(make_case(Collective::AllReduce, 4096));
  ASSERT_EQ(ranks.run(), 0u);
  std::memset(ranks.call(2).out, 0xa7, 4096);  // as fill() left it
  EXPECT_EQ(ranks.wrong(), 1024u);
}

TEST(Workload, one_flipped_bit_is_one_wrong_element_and_is_named) {
  Ranks ranks(make_case(Collective::AllGather, 4096));
  ASSERT_EQ(ranks.run(), 0u);
  static_cast<std::byte*>(ranks.call(1).out)[4 * 700] ^= std::byte{1};
  EXPECT_EQ(ranks.wrong(), 1u);
  EXPECT_THAT(ranks.verdict(1).first_wrong, HasSubstr("element 700 of the output is"));
}

// Pieces of 1021 elements, the pattern's own period, included.
TEST(Workload, pieces_in_each_others_place_are_found) {
  for (const std::size_t elements : {1u, 256u, 1021u, 2042u}) {
    Ranks ranks(make_case(Collective::AllReduce, 64'000));
    ASSERT_EQ(ranks.run(), 0u);
    auto* out = static_cast<std::byte*>(ranks.call(0).out);
    std::swap_ranges(out, out + 4 * elements, out + 4 * 4084);
    EXPECT_GT(ranks.wrong(), 0u) << elements;
  }
}

TEST(Workload, blocks_of_two_ranks_exchanged_are_found) {
  for (const auto collective : {Collective::AllGather, Collective::AllToAll}) {
    Ranks ranks(make_case(collective, 4096));
    ASSERT_EQ(ranks.run(), 0u);
    auto* out = static_cast<std::byte*>(ranks.call(3).out);
    std::swap_ranges(out, out + 1024, out + 2048);
    EXPECT_EQ(ranks.wrong(), 512u) << to_string(collective);
  }
}

TEST(Workload, a_byte_outside_the_buffers_is_found) {
  for (const std::ptrdiff_t offset : {-1, 4096}) {
    Ranks ranks(make_case(Collective::AllReduce, 4096));
    ASSERT_EQ(ranks.run(), 0u);
    static_cast<std::byte*>(ranks.call(0).out)[offset] = std::byte{0};
    EXPECT_EQ(ranks.wrong(), 1u);
    EXPECT_THAT(ranks.verdict(0).first_wrong, HasSubstr("1 bytes before or after the buffers"));
  }
}

TEST(Workload, a_changed_input_is_found) {
  Ranks ranks(make_case(Collective::ReduceScatter, 4096));
  ASSERT_EQ(ranks.run(), 0u);
  static_cast<std::byte*>(const_cast<void*>(ranks.call(0).in))[8] ^= std::byte{1};
  EXPECT_EQ(ranks.wrong(), 1u);
  EXPECT_THAT(ranks.verdict(0).first_wrong, HasSubstr("element 2 of the input, which may not be written,"));
}

// Numbers up to 100 of four ranks: int8 may be off by less than 4, once for the inputs and once for the sum.
TEST(Workload, a_quantised_result_may_be_off_by_the_bound_and_no_more) {
  for (const auto collective : {Collective::AllReduce, Collective::AllGather}) {
    Case what = make_case(collective, 8192);
    what.call.quantisation = Quantisation::Int8;
    Ranks ranks(what);
    ASSERT_EQ(ranks.run(), 0u);
    auto* out = static_cast<float*>(ranks.call(1).out);
    const float bound = collective == Collective::AllReduce ? 400.0F / 127 : 100.0F / 254;
    out[700] += 0.6F * bound;
    EXPECT_EQ(ranks.wrong(), 0u) << ranks.verdict(1).first_wrong;
    out[700] += 0.6F * bound;
    EXPECT_EQ(ranks.wrong(), 1u);
    EXPECT_THAT(ranks.verdict(1).first_wrong, HasSubstr("element 700 of the output is"));
    out[700] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(ranks.wrong(), 1u);
  }
}

TEST(Workload, sizes_follow_nccl_tests) {
  EXPECT_EQ(make_case(Collective::AllReduce, 4096).call.count, 1024u);
  EXPECT_EQ(make_case(Collective::AllGather, 4096).call.count, 256u);  // the whole buffer is 4096 bytes
  EXPECT_EQ(make_case(Collective::AllToAll, 4096).call.count, 256u);
  EXPECT_EQ(make_case(Collective::AllGather, 8).call.count, 1u);  // at least one element
}

}  // namespace
}  // namespace weft::bench
