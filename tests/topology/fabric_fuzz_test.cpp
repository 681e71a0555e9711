// Runs the fuzz target of fabric files and listings over seeds and seeded mutations of them: no input crashes it, hangs
// it or breaks a promise.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "topology/fabric/fabric.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes);

namespace weft::topology {
namespace {

constexpr int kMutations = 4000;

void feed(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

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

std::string mutate(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  static constexpr const char* kTokens[] = {"-1",    "0",    "99999999999999999999", "1e308", "\"", "[1]", "\n",
                                            "4xHDR", "hosts"};
  for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, 1 + below(16));
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), 1 + below(400)));
        break;
      case 3:
        text.resize(at);
        break;
      default:
        text.replace(at, std::min<std::size_t>(1 + below(4), text.size() - at), kTokens[below(std::size(kTokens))]);
    }
  }
  return text;
}

TEST(FabricFuzz, seeds_and_mutations_keep_all_promises) {
  const char* given = std::getenv("WEFT_TEST_SEED");
  const unsigned seed =
      given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device()();
  std::printf("seed %u; replay with WEFT_TEST_SEED=%u\n", seed, seed);
  std::fflush(stdout);
  std::mt19937 random(seed);
  const std::vector<std::string> texts = seeds();
  int accepted = 0;
  for (const std::string& text : texts) feed(text);
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = mutate(texts[static_cast<std::size_t>(i) % texts.size()], random);
    feed(text);
    accepted += is_fabric_file(text) ? parse_fabric_file("f", text).has_value() : read_fabric("f", text).has_value();
  }
  // Some mutations must get past the readers, or this tests only the refusals.
  EXPECT_GT(accepted, kMutations / 100);
}

TEST(FabricFuzz, every_cut_of_a_text_keeps_all_promises) {
  for (const std::string& text : seeds())
    for (std::size_t bytes = 0; bytes < text.size(); ++bytes) feed(text.substr(0, bytes));
}

}  // namespace
}  // namespace weft::topology
