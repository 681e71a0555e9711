// What every test of a fuzz target does: feeds it texts, and small random edits of them where there is no fuzzer.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes);

namespace weft::topology::test {

// With WEFT_FUZZ_CORPUS: keeps the text in that folder, as a part of a corpus for libFuzzer (tools/fuzz).
void keep_in_corpus(const std::string& text);

inline void feed(const std::string& text) {
  keep_in_corpus(text);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

// All beginnings of a text, or `most` of them, evenly spaced.
inline void feed_cuts(const std::string& text, std::size_t most = ~std::size_t{0}) {
  const std::size_t step = text.size() / most + 1;
  for (std::size_t bytes = 0; bytes < text.size(); bytes += step) feed(text.substr(0, bytes));
}

// How many mutations a test makes: few, unless WEFT_FUZZ_RUNS asks for more ("WEFT_FUZZ_RUNS=1000000").
long fuzz_runs(long usual);

// Of WEFT_TEST_SEED, or of the machine's randomness; prints how to replay it.
std::mt19937 seeded_random();

// One to three edits: a byte, a cut, a copied piece, one of `words` put in, or in place of a number. Half of the edits
// are of numbers, which most often get past a parser.
std::string mutate(std::string text, const std::vector<std::string>& words, std::mt19937& random);

}  // namespace weft::topology::test
