// Runs the fuzz target of schedules over seeds and seeded mutations of them: no input crashes it, hangs it or breaks a
// promise.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "algorithms/export.hpp"
#include "algorithms/loaded_schedules.hpp"
#include "tests/topology/support/fuzz.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::algorithms {
namespace {

using topology::test::feed;

constexpr int kMutations = 3000;
const std::vector<std::string> kWords = {"-1",
                                         "0",
                                         "1",
                                         "2",
                                         "3",
                                         "2147483647",
                                         "null",
                                         "[]",
                                         "{}",
                                         "\"in\"",
                                         "\"out\"",
                                         "\"scratch\"",
                                         "true",
                                         "\"Send\"",
                                         "\"Wait\"",
                                         "\"Recv\"",
                                         "\"RecvReduce\"",
                                         "\"Copy\"",
                                         "\"Reduce\""};

std::vector<std::string> seeds() {
  std::vector<std::string> texts = {"", "{}", "[]", "{\"schema\":1}", "\xff\xfe"};
  for (const Algorithm* algorithm : all_algorithms())
    for (const bool in_place : {false, true})
      texts.push_back(to_json(build_schedule(*algorithm, flat_group(3), {.root = 1, .in_place = in_place})));
  return texts;
}

TEST(ScheduleJsonFuzz, seeds_keep_all_promises) {
  for (const std::string& text : seeds()) feed(text);
}

TEST(ScheduleJsonFuzz, mutations_keep_all_promises) {
  EXPECT_GT(topology::test::feed_mutations(seeds(), kWords, kMutations,
                                           [](const std::string& text) {
                                             return load_schedule({"a file", text}).has_value();
                                           }),
            0.001);
}

}  // namespace
}  // namespace weft::algorithms
