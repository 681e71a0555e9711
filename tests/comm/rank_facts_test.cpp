// What a rank knows of itself.
#include "comm/rank_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace weft::comm {
namespace {

TEST(RankFacts, cpus_beyond_the_first_1024_are_counted) {
  constexpr std::size_t kSystemBytes = 4096 / 8;
  const auto ask = [](std::size_t bytes, cpu_set_t* set) {
    if (bytes < kSystemBytes) {
      errno = EINVAL;
      return -1;
    }
    for (const std::size_t cpu : {0, 1023, 1024, 3000}) CPU_SET_S(cpu, bytes, set);
    return 0;
  };
  EXPECT_THAT(allowed_cpus(ask), ::testing::ElementsAre(0, 1023, 1024, 3000));
}

TEST(RankFacts, a_system_that_never_answers_is_not_asked_for_ever) {
  const auto refuse = [](std::size_t, cpu_set_t*) {
    errno = EINVAL;
    return -1;
  };
  EXPECT_THAT(allowed_cpus(refuse), ::testing::IsEmpty());
}

TEST(RankFacts, of_this_process_name_at_least_one_cpu) { EXPECT_FALSE(own_facts({}, {}, "").cpus.empty()); }

}  // namespace
}  // namespace weft::comm
