// The sizes that weft-bench measures.
#include "bench/weft-bench/sizes.hpp"

#include <gmock/gmock.h>

namespace weft::bench {
namespace {

using ::testing::ElementsAre;

TEST(Sizes, a_sweep_ends_at_the_last_size_that_fits) {
  EXPECT_THAT(sweep(8, 64, 2), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(sweep(8, 65, 4), ElementsAre(8, 32));
  EXPECT_THAT(sweep(5, 5, 2), ElementsAre(5));
  EXPECT_THAT(sweep(0, 100, 2), ElementsAre(0));
  EXPECT_EQ(sweep(1ull << 62, ~0ull, 2).size(), 2u);  // does not overflow
}

}  // namespace
}  // namespace weft::bench
