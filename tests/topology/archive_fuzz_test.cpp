// Runs the fuzz target of archives over seeds and seeded mutations of them.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "tests/topology/support/fuzz.hpp"
#include "tests/topology/support/tar_text.hpp"

namespace weft::topology {
namespace {

using test::feed;

using test::TarText;

constexpr int kMutations = 1500;

std::vector<std::string> seeds() {
  return {"",
          "BZh9",
          "\x1f\x8b\x08",
          TarText().folder("sys").file("sys/a", "text").link("sys/b", "a").text(),
          TarText().file("top/proc/x", std::string(600, 'x')).link("top/sys/c", "../../d").device("top/dev").text(),
          TarText().link("a/b/c", "../../d").link("a/b/c/e", "../../../f").file("a/b/g", "h").claim("a/i", 20).text()};
}

// Names and targets of links lie at the start of a header, numbers behind them.
std::string mutate(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  static constexpr const char* kPieces[] = {"../", "/", "..", "a/b", "sys", "7777777", "5", "2"};
  for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = below(text.size());
    const std::string piece = kPieces[below(std::size(kPieces))];
    switch (below(4)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.resize(at);
        break;
      case 2:
        text.replace(at, std::min(piece.size(), text.size() - at), piece);
        break;
      default: {  // a name, or the target of a link
        const std::size_t field = at / 512 * 512 + (below(2) == 0 ? 0 : 157);
        if (field < text.size()) text.replace(field, std::min(piece.size(), text.size() - field), piece);
      }
    }
  }
  return text;
}

// The checksum of each header is put right: mutations should get behind it.
std::string with_checksums(std::string text) {
  constexpr std::size_t kBlock = 512;
  for (std::size_t at = 0; at + kBlock <= text.size(); at += kBlock) {
    if (text.compare(at + 257, 5, "ustar") != 0) continue;
    text.replace(at + 148, 8, 8, ' ');
    unsigned sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i) sum += static_cast<unsigned char>(text[at + i]);
    char digits[8];
    std::snprintf(digits, sizeof digits, "%06o", sum);
    text.replace(at + 148, 7, std::string(digits, 7));
  }
  return text;
}

TEST(ArchiveFuzz, seeds_keep_all_promises) {
  for (const std::string& text : seeds()) feed(text);
}

TEST(ArchiveFuzz, mutations_keep_all_promises) {
  std::mt19937 random = test::seeded_random();
  const std::vector<std::string> texts = seeds();
  const long runs = test::fuzz_runs(kMutations);
  for (long i = 0; i < runs; ++i)
    feed(with_checksums(mutate(texts[static_cast<std::size_t>(i) % texts.size()], random)));
}

}  // namespace
}  // namespace weft::topology
