// Sizes as weft-bench reads and writes them.
#include "bench/weft-bench/sizes.hpp"

#include <gmock/gmock.h>

namespace weft::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(Sizes, suffixes_are_powers_of_1024) {
  EXPECT_THAT(parse_bytes("8"), Optional(8u));
  EXPECT_THAT(parse_bytes("4k"), Optional(4096u));
  EXPECT_THAT(parse_bytes("64M"), Optional(64u << 20));
  EXPECT_THAT(parse_bytes("1GiB"), Optional(1u << 30));
  EXPECT_THAT(parse_bytes("512B"), Optional(512u));
}

TEST(Sizes, what_is_no_size_is_refused) {
  for (const auto* text : {"", "k", "-1", "4q", "4kk", "4 k", "1.5M", "4kb", "99999999999999999999", "99999999999T"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(Sizes, format_is_the_inverse_of_parse) {
  for (const std::uint64_t bytes : {0ull, 8ull, 1023ull, 1024ull, 1025ull, 64ull << 20, 3ull << 40}) {
    EXPECT_THAT(parse_bytes(format_bytes(bytes)), Optional(bytes));
  }
  EXPECT_EQ(format_bytes(64u << 20), "64M");
}

TEST(Sizes, a_sweep_ends_at_the_last_size_that_fits) {
  EXPECT_THAT(sweep(8, 64, 2), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(sweep(8, 65, 4), ElementsAre(8, 32));
  EXPECT_THAT(sweep(5, 5, 2), ElementsAre(5));
  EXPECT_THAT(sweep(0, 100, 2), ElementsAre(0));
  EXPECT_EQ(sweep(1ull << 62, ~0ull, 2).size(), 2u);  // does not overflow
}

}  // namespace
}  // namespace weft::bench
