// Regions that a peer has mapped: what is found in them and what is not.
#include "transports/region_table.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weft::transports {
namespace {

TEST(RegionTable, a_place_found_by_the_sender_is_the_same_bytes_at_the_receiver) {
  std::vector<std::byte> memory(1000);
  std::vector<std::byte> as_mapped(1000);
  RegionTable ours;
  RegionTable theirs;
  ASSERT_TRUE(ours.add({5, memory.data(), memory.size()}));
  ASSERT_TRUE(theirs.add({5, as_mapped.data(), as_mapped.size()}));
  for (const std::size_t at : {0, 1, 999}) {
    const RemotePlace place = ours.find(memory.data() + at, 1);
    ASSERT_NE(place, 0U);
    EXPECT_EQ(region_of(place), 5U);
    EXPECT_EQ(theirs.at(place, 1), as_mapped.data() + at);
  }
}

TEST(RegionTable, bytes_that_are_not_all_of_one_region_have_no_place) {
  std::vector<std::byte> memory(1000);
  RegionTable table;
  EXPECT_EQ(table.find(memory.data(), 1), 0U);
  ASSERT_TRUE(table.add({1, memory.data() + 100, 800}));
  EXPECT_EQ(table.find(memory.data() + 99, 1), 0U);
  EXPECT_EQ(table.find(memory.data() + 99, 2), 0U);
  EXPECT_NE(table.find(memory.data() + 100, 800), 0U);
  EXPECT_EQ(table.find(memory.data() + 100, 801), 0U);
  EXPECT_EQ(table.find(memory.data() + 899, 2), 0U);
  EXPECT_EQ(table.find(memory.data() + 900, 1), 0U);
}

// What a message says is not believed.
TEST(RegionTable, a_place_outside_of_what_is_mapped_is_none) {
  std::vector<std::byte> memory(1000);
  RegionTable table;
  ASSERT_TRUE(table.add({1, memory.data(), memory.size()}));
  const auto place = [](std::uint64_t region, std::uint64_t offset) { return (region + 1) << kOffsetBits | offset; };
  EXPECT_NE(table.at(place(1, 999), 1), nullptr);
  EXPECT_EQ(table.at(place(1, 999), 2), nullptr);
  EXPECT_EQ(table.at(place(1, 1000), 0), nullptr);
  EXPECT_EQ(table.at(place(1, kMaxRegionBytes - 1), 1), nullptr);
  EXPECT_EQ(table.at(place(2, 0), 1), nullptr);
  EXPECT_EQ(table.at(0, 0), nullptr);
}

TEST(RegionTable, what_was_removed_is_not_found_and_makes_room) {
  std::vector<std::byte> memory(1000);
  RegionTable table;
  for (std::uint32_t number = 0; number < RegionTable::kCapacity; ++number)
    ASSERT_TRUE(table.add({number, memory.data() + number, 1}));
  EXPECT_FALSE(table.add({100, memory.data() + 500, 1}));
  table.remove(3);
  EXPECT_EQ(table.find(memory.data() + 3, 1), 0U);
  EXPECT_TRUE(table.add({100, memory.data() + 500, 1}));
  EXPECT_EQ(region_of(table.find(memory.data() + 500, 1)), 100U);
  EXPECT_EQ(region_of(table.find(memory.data() + 63, 1)), 63U);
}

}  // namespace
}  // namespace weft::transports
