// Sets of CPUs and NUMA nodes as hwloc writes them.
#include "topology/probe/index_set.hpp"

#include <gtest/gtest.h>

namespace weft::topology {
namespace {

std::string list_of(std::string_view mask) {
  const std::optional<IndexSet> set = IndexSet::parse_mask(mask);
  return set ? set->list() : "nothing";
}

TEST(IndexSet, masks_are_read_in_all_spellings) {
  EXPECT_EQ(list_of("0x0"), "");
  EXPECT_EQ(list_of("0x00000001"), "0");
  EXPECT_EQ(list_of("0x000000ff,0x0"), "32-39");
  EXPECT_EQ(list_of("0x1,,0x80000000"), "31,64");
  EXPECT_EQ(list_of("ff,00000000,0000000f"), "0-3,64-71");
  for (const char* mask : {"", "0xf...f", "0xf...f,0x1", "zero", "0x1ffffffff", "0x1 0x2", "-1"})
    EXPECT_EQ(list_of(mask), "nothing") << mask;
}

TEST(IndexSet, leading_zeros_make_no_difference) {
  EXPECT_EQ(IndexSet::parse_mask("0x0,0x0,0x00000003"), IndexSet::parse_mask("0x3"));
  EXPECT_EQ(IndexSet::parse_mask("0x0,0x0"), IndexSet());
}

TEST(IndexSet, sets_meet_and_contain) {
  const IndexSet low = *IndexSet::parse_mask("0xffff");
  const IndexSet far = *IndexSet::parse_mask("0x1,0x0,0x0,0x0,0x00000f00");
  EXPECT_TRUE(low.intersects(far));
  EXPECT_FALSE(low.contains(far));
  EXPECT_TRUE(far.contains(low & far));
  EXPECT_EQ((low & far).list(), "8-11");
  EXPECT_EQ(far.list(), "8-11,128");
  EXPECT_EQ(far.count(), 5u);
  EXPECT_EQ(far.first(), 8);
  EXPECT_TRUE(low.contains(IndexSet()));
  EXPECT_FALSE(low.intersects(IndexSet()));
  EXPECT_EQ(IndexSet().first(), -1);
  EXPECT_TRUE((*IndexSet::parse_mask("0x1") & *IndexSet::parse_mask("0x1,0x0,0x0")).empty());
}

TEST(IndexSet, more_numbers_than_a_machine_has_are_refused) {
  std::string mask = "0x1";
  for (int i = 0; i < (IndexSet::kMaxIndex + 1) / 32; ++i) mask += ",0x0";
  EXPECT_EQ(list_of(mask), "nothing");
}

}  // namespace
}  // namespace weft::topology
