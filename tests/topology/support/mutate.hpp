// Small random edits of a text: what a fuzz target is fed with where there is no fuzzer.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace weft::topology::test {

// Of WEFT_TEST_SEED, or of the machine's randomness; prints how to replay it.
std::mt19937 seeded_random();

// One to three edits: a byte, a cut, a copied piece, or one of `words` in place of a number.
std::string mutate(std::string text, const std::vector<std::string>& words, std::mt19937& random);

}  // namespace weft::topology::test
