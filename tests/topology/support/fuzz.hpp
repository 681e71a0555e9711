// What every test of a fuzz target does: feeds it texts, and small random edits of them where there is no fuzzer.
#pragma once

#include <cstdint>
#include <functional>
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

// Feeds a mutation of each text in turn, `usual` of them (see fuzz_runs). Gives the share that was accepted: where none
// gets past a reader, this tests only its refusals.
inline double feed_mutations(const std::vector<std::string>& texts, const std::vector<std::string>& words, long usual,
                             const std::function<bool(const std::string& text)>& is_accepted) {
  std::mt19937 random = seeded_random();
  const long runs = fuzz_runs(usual);
  long accepted = 0;
  for (long i = 0; i < runs; ++i) {
    const std::string text = mutate(texts[static_cast<std::size_t>(i) % texts.size()], words, random);
    feed(text);
    accepted += is_accepted(text) ? 1 : 0;
  }
  return static_cast<double>(accepted) / static_cast<double>(runs);
}

}  // namespace weft::topology::test
