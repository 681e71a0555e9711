// Runs the fuzz target of recorded trees over seeds and seeded mutations of them: no content of a file crashes a
// reader, hangs it or makes a graph that is not sound.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/topology/support/fuzz.hpp"

namespace weft::topology {
namespace {

constexpr int kMutations = 150;  // each reads a whole tree
const std::vector<std::string> kWords = {"-1", "0", "0-3", "99999999999999999999", "ffffffff", "0x", ":", ",", "\n"};
constexpr const char* kContents[] = {"0-1\n",
                                     "00000003\n",
                                     "0x030200\n",
                                     "32.0 GT/s PCIe\n",
                                     "4: ACTIVE\n",
                                     "400 Gb/sec (4X NDR)\n",
                                     "fe80:0000:0000:0000:0c42:a103:0056:f8a4\n",
                                     "00 01 02 \n",
                                     "Node 0 MemTotal:  1024 kB\n",
                                     "10 21\n",
                                     "Max locked memory  8388608  unlimited  bytes\n",
                                     "ib0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\n"};
constexpr int kFirstBytes = 256;  // which file, and whether the graph is read too

TEST(TreeFuzz, whatever_one_file_holds_all_promises_are_kept) {
  for (int first = 0; first < kFirstBytes; ++first)
    for (const std::string content : {"", "-1\n", "3,0\n", "1,\n", "99999999999999999999\n"}) {
      const std::string half = static_cast<char>(first) + content;
      test::feed(half + half);
    }
}

TEST(TreeFuzz, mutations_keep_all_promises) {
  std::mt19937 random = test::seeded_random();
  const auto below = [&](int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random); };
  const long runs = test::fuzz_runs(kMutations);
  for (long i = 0; i < runs; ++i) {
    std::string half[2];
    for (std::string& one : half)
      one = static_cast<char>(below(kFirstBytes)) +
            test::mutate(kContents[below(static_cast<int>(std::size(kContents)))], kWords, random);
    // Halves of one length: the target parts its input in the middle.
    half[0].resize(std::max(half[0].size(), half[1].size()), '\n');
    half[1].resize(half[0].size(), '\n');
    test::feed(half[0] + half[1]);
  }
}

}  // namespace
}  // namespace weft::topology
