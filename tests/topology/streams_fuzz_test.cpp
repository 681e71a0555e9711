// Runs the fuzz target of what ranks tell each other about streams over seeds and seeded mutations of them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/topology/support/fuzz.hpp"
#include "tools/weft-vendor/rdma_point.hpp"

namespace weft::topology {
namespace {

using test::feed;
using vendor::parse_rdma_point;

const std::string kPoint = "4711 16777215 7 fe80000000000000506b4b0300cf0a12 5 2149 140389281792000";

const std::vector<std::string> kSeeds = {
    kPoint,
    "tcp at 17 10.0.0.1,fd00::1 40123 8237462",
    "rdma at 3 " + kPoint,
    "rdma rate 3 24.1 1.9 8388608",
    "rdma failed 4 reg_mr (see limits.memlock): Cannot allocate memory",
    "10.0.0.1,fd00::1 40123 8237462",
};

TEST(StreamsFuzz, seeds_keep_all_promises) {
  for (const std::string& seed : kSeeds) feed(seed);
  EXPECT_TRUE(parse_rdma_point(kPoint));
}

TEST(StreamsFuzz, points_are_read_strictly) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kPoint;
    return parse_rdma_point(text.replace(text.find(from), from.size(), to)).has_value();
  };
  EXPECT_TRUE(with("4711", "0"));
  EXPECT_FALSE(with("4711", "-1"));
  EXPECT_FALSE(with("4711", "04711"));
  EXPECT_FALSE(with("4711", "4294967296"));
  EXPECT_FALSE(with("4711 ", "4711  "));
  EXPECT_FALSE(with(" 7 ", " 65536 "));
  EXPECT_FALSE(with("fe80", "FE80"));
  EXPECT_FALSE(with("fe80", "fe8"));
  EXPECT_FALSE(with(" 5 ", " 0 "));
  EXPECT_FALSE(with(" 5 ", " 6 "));
  EXPECT_FALSE(with("000", "000 "));
  EXPECT_FALSE(parse_rdma_point(kPoint + " 1"));
  EXPECT_FALSE(parse_rdma_point(""));
}

TEST(StreamsFuzz, mutations_keep_all_promises) {
  const std::vector<std::string> words = {"-1", "0", "+7", "99999999999999999999", "1e9", " ", ",", "rdma", "at"};
  EXPECT_GT(test::feed_mutations(kSeeds, words, 8000,
                                 [](const std::string& text) { return parse_rdma_point(text).has_value(); }),
            0.001);
}

TEST(StreamsFuzz, every_cut_of_a_text_keeps_all_promises) {
  for (const std::string& text : kSeeds) test::feed_cuts(text);
}

}  // namespace
}  // namespace weft::topology
