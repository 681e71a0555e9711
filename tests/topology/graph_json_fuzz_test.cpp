// Runs the fuzz target of topology JSON over seeds and seeded mutations of them: no input crashes it, hangs it or
// breaks a promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/topology/support/fuzz.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using test::feed;

constexpr int kMutations = 4000;
const std::vector<std::string> kWords = {
    "-1", "0", "1e308", "1e-308", "99999999999999999999", "null", "[]", "{}", "\"\"", "\"gpu\"", "true", "0.5"};

std::vector<std::string> seeds() {
  std::vector<std::string> texts = {"",         "{}",         "[]", "null", "{\"schema\":1}", "{\"graph\":{}}",
                                    "\xff\xfe", "\"\\ud800\""};
  for (const char* line :
       {"cores:2", "packages:2 gpu:4 nvlink:25 nic:1 ndr", "hosts:2 gpu:1 nic:1 eth:10", "gpu:2 nvswitch:450"})
    texts.push_back(to_json(*model(line)));
  return texts;
}

TEST(GraphJsonFuzz, seeds_keep_all_promises) {
  for (const std::string& text : seeds()) feed(text);
}

TEST(GraphJsonFuzz, mutations_keep_all_promises) {
  EXPECT_GT(test::feed_mutations(seeds(), kWords, kMutations,
                                 [](const std::string& text) { return from_json(text).has_value(); }),
            0.01);
}

}  // namespace
}  // namespace weft::topology
