// Runs the fuzz target of fabric files and listings over seeds and seeded mutations of them: no input crashes it, hangs
// it or breaks a promise.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/topology/support/fuzz.hpp"
#include "topology/fabric/fabric.hpp"

namespace weft::topology {
namespace {

using test::feed;

constexpr int kMutations = 4000;
const std::vector<std::string> kWords = {"-1",    "0",    "99999999999999999999", "1e308", "\"", "[1]", "\n",
                                         "4xHDR", "hosts"};

std::vector<std::string> seeds() {
  std::vector<std::string> texts = {
      "weft-fabric 1\nrails only\nleaf hosts 1 oversubscription 2\nlevels 2\nlatency 0.1\n",
      "weft-fabric 1\nlevels 3\nleaf hosts 1\npod hosts 2\n", "\ncaguid=0x1\nCa\t1 \"H-1\"\n"};
  for (const char* file : {"llama3.fabric", "four-nodes.ibnetdiscover"}) {
    std::ifstream in(std::string("tests/topology/data/fabric/") + file);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    EXPECT_FALSE(texts.back().empty()) << file;
  }
  return texts;
}

TEST(FabricFuzz, seeds_and_mutations_keep_all_promises) {
  for (const std::string& text : seeds()) feed(text);
  const auto is_accepted = [](const std::string& text) {
    return is_fabric_file(text) ? parse_fabric_file("f", text).has_value() : read_fabric("f", text).has_value();
  };
  EXPECT_GT(test::feed_mutations(seeds(), kWords, kMutations, is_accepted), 0.01);
}

TEST(FabricFuzz, every_cut_of_a_text_keeps_all_promises) {
  for (const std::string& text : seeds()) test::feed_cuts(text);
}

}  // namespace
}  // namespace weft::topology
