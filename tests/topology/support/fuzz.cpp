// Edits, each as likely to be met in the field as in a fuzzer.
#include "tests/topology/support/fuzz.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>

namespace weft::topology::test {

void keep_in_corpus(const std::string& text) {
  if (const char* folder = std::getenv("WEFT_FUZZ_CORPUS"))
    std::ofstream(std::string(folder) + "/" + std::to_string(std::hash<std::string>()(text)), std::ios::binary) << text;
}

long fuzz_runs(long usual) {
  const char* given = std::getenv("WEFT_FUZZ_RUNS");
  const long runs = given != nullptr ? std::strtol(given, nullptr, 10) : 0;
  return runs > 0 ? runs : usual;
}

std::mt19937 seeded_random() {
  const char* given = std::getenv("WEFT_TEST_SEED");
  const unsigned seed =
      given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device()();
  std::printf("seed %u; replay with WEFT_TEST_SEED=%u\n", seed, seed);
  std::fflush(stdout);
  return std::mt19937(seed);
}

std::string mutate(std::string text, const std::vector<std::string>& words, std::mt19937& random) {
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = below(text.size());
    switch (below(10)) {
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
      case 4:
        text.insert(at, words[below(words.size())]);
        break;
      default: {
        const std::size_t begin = text.find_first_of("0123456789", at);
        if (begin == std::string::npos) break;
        const std::size_t end = std::min(text.find_first_not_of("0123456789.", begin), text.size());
        text.replace(begin, end - begin, words[below(words.size())]);
      }
    }
  }
  return text;
}

}  // namespace weft::topology::test
