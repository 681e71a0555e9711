// Layout: its two directions agree, aliasing follows Operation's in-place rules, and chunks cut a block without gaps.
#include <gtest/gtest.h>

#include <algorithm>

#include "weft/schedule.hpp"

namespace weft {
namespace {

constexpr Collective kAll[] = {Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter,
                               Collective::AllToAll,  Collective::Broadcast, Collective::Reduce,
                               Collective::Gather,    Collective::Scatter,   Collective::Barrier};

template <typename Check>
void for_each_layout(Check&& check) {
  for (const Collective collective : kAll)
    for (const int size : {1, 2, 5})
      for (const int chunks : {1, 3}) check(Layout{collective, size, size - 1, chunks});
}

TEST(Layout, local_and_logical_chunks_are_inverse) {
  for_each_layout([](const Layout& layout) {
    for (int rank = 0; rank < layout.size; ++rank) {
      int inputs = 0;
      int outputs = 0;
      for (int chunk = 0; chunk < layout.chunks(); ++chunk) {
        const int input = layout.input_index(rank, chunk);
        const int output = layout.output_index(rank, chunk);
        EXPECT_TRUE(input < 0 || layout.input_chunk(rank, input) == chunk);
        EXPECT_TRUE(output < 0 || layout.output_chunk(rank, output) == chunk);
        inputs += input >= 0 ? 1 : 0;
        outputs += output >= 0 ? 1 : 0;
      }
      EXPECT_EQ(layout.input_chunks(rank), inputs) << to_string(layout.collective);
      EXPECT_EQ(layout.output_chunks(rank), outputs) << to_string(layout.collective);
      EXPECT_EQ(layout.input_chunk(rank, inputs), -1);
      EXPECT_EQ(layout.output_chunk(rank, -1), -1);
    }
  });
}

// Operation: out == in; in == out + rank * count (gathers); out == in + rank * count (scatters).
TEST(Layout, aliases_are_the_same_elements_of_memory) {
  for_each_layout([](const Layout& layout) {
    const std::uint64_t n = 7;
    for (int rank = 0; rank < layout.size; ++rank) {
      const bool gathers = layout.collective == Collective::AllGather || layout.collective == Collective::Gather;
      const bool scatters = layout.collective == Collective::ReduceScatter || layout.collective == Collective::Scatter;
      const std::uint64_t input_starts = gathers ? static_cast<std::uint64_t>(rank) * n : 0;
      const std::uint64_t output_starts = scatters ? static_cast<std::uint64_t>(rank) * n : 0;
      int aliases = 0;
      for (int input = 0; input < layout.input_chunks(rank); ++input) {
        const int output = layout.aliased_output(rank, input);
        if (output < 0) continue;
        ++aliases;
        EXPECT_EQ(layout.aliased_input(rank, output), input);
        EXPECT_EQ(input_starts + layout.begin_element(input, n), output_starts + layout.begin_element(output, n))
            << to_string(layout.collective) << " rank " << rank;
      }
      EXPECT_EQ(aliases, std::min(layout.input_chunks(rank), layout.output_chunks(rank)))
          << to_string(layout.collective);
    }
  });
}

TEST(Layout, chunks_cover_a_block_without_gaps_and_the_last_is_the_largest) {
  for (const int chunks : {1, 2, 3, 7}) {
    const Layout layout{Collective::AllReduce, 4, 0, chunks};
    for (const std::uint64_t n : {0ULL, 1ULL, 5ULL, 6ULL, 7ULL, 1000ULL, (1ULL << 62) + 3}) {
      std::uint64_t end = 0;
      for (int chunk = 0; chunk < chunks; ++chunk) {
        EXPECT_EQ(layout.begin_element(chunk, n), end);
        end += layout.elements(chunk, n);
        EXPECT_LE(layout.elements(chunk, n), layout.elements(chunks - 1, n));
      }
      EXPECT_EQ(end, n);
    }
  }
}

TEST(Layout, contributors_are_owners_senders_roots_or_everyone) {
  EXPECT_EQ((Layout{Collective::AllReduce, 4, 0, 2}.contributor(1)), -1);
  EXPECT_EQ((Layout{Collective::Barrier, 4, 0, 1}.contributor(0)), -1);
  EXPECT_EQ((Layout{Collective::AllGather, 4, 0, 2}.contributor(5)), 2);
  EXPECT_EQ((Layout{Collective::Scatter, 4, 3, 2}.contributor(5)), 3);
  EXPECT_EQ((Layout{Collective::AllToAll, 4, 0, 1}.contributor(9)), 2);
}

}  // namespace
}  // namespace weft
