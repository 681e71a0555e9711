// Runs the fuzz target of topology JSON over seeds and seeded mutations of them: no input crashes it, hangs it or
// breaks a promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>

#include "weft/graph.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes);

namespace weft::topology {
namespace {

constexpr int kMutations = 4000;

void feed(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

std::vector<std::string> seeds() {
  std::vector<std::string> texts = {"",         "{}",         "[]", "null", "{\"schema\":1}", "{\"graph\":{}}",
                                    "\xff\xfe", "\"\\ud800\""};
  for (const char* line :
       {"cores:2", "packages:2 gpu:4 nvlink:25 nic:1 ndr", "hosts:2 gpu:1 nic:1 eth:10", "gpu:2 nvswitch:450"})
    texts.push_back(to_json(*model(line)));
  return texts;
}

// One to three small edits: a byte, a cut, a copied piece, or a number put in place of another.
std::string mutate(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  static constexpr const char* kTokens[] = {
      "-1", "0", "1e308", "1e-308", "99999999999999999999", "null", "[]", "{}", "\"\"", "\"gpu\"", "true", "0.5"};
  for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = below(text.size());
    switch (below(8)) {  // half of the edits are numbers, which most often get past the parser
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, 1 + below(16));
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), 1 + below(40)));
        break;
      case 3:
        text.resize(at);
        break;
      default: {
        const std::size_t digit = text.find_first_of("0123456789", at);
        if (digit == std::string::npos) break;
        const std::size_t end = std::min(text.find_first_not_of("0123456789.", digit), text.size());
        text.replace(digit, end - digit, kTokens[below(std::size(kTokens))]);
      }
    }
  }
  return text;
}

TEST(GraphJsonFuzz, seeds_keep_all_promises) {
  for (const std::string& text : seeds()) feed(text);
}

TEST(GraphJsonFuzz, mutations_keep_all_promises) {
  const char* given = std::getenv("WEFT_TEST_SEED");
  const unsigned seed =
      given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device()();
  std::printf("seed %u; replay with WEFT_TEST_SEED=%u\n", seed, seed);
  std::fflush(stdout);
  std::mt19937 random(seed);
  const std::vector<std::string> texts = seeds();
  int accepted = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = mutate(texts[static_cast<std::size_t>(i) % texts.size()], random);
    feed(text);
    accepted += from_json(text).has_value() ? 1 : 0;
  }
  // Some mutations must get past the parser, or this tests only the parser.
  EXPECT_GT(accepted, kMutations / 100);
}

}  // namespace
}  // namespace weft::topology
