// The numbers that hashes are made of stay what they were: hashes in files are compared with new ones.
#include "bench/weft-bench/unruly.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "base/fnv1a.hpp"

namespace weft::bench {
namespace {

std::uint64_t hash_of_thousand(DataType dtype, int rank) {
  std::vector<std::byte> memory(1000 * size_of(dtype));
  write_unruly(memory, dtype, rank);
  return base::fnv1a({reinterpret_cast<const char*>(memory.data()), memory.size()});
}

// Worked out by another program.
TEST(Unruly, numbers_of_each_type_are_known) {
  const std::array<std::pair<DataType, std::uint64_t>, 6> known = {{{DataType::Float64, 0x8bcea246e995bc81},
                                                                    {DataType::Float32, 0x28ce8ea004dfe5f2},
                                                                    {DataType::Float16, 0xf8a4e4f10412b134},
                                                                    {DataType::BFloat16, 0xfac5a99a5f5d1867},
                                                                    {DataType::Float8E4M3, 0xdc42bcd3562e010f},
                                                                    {DataType::Float8E5M2, 0xf7474db5683a6ff7}}};
  for (const auto& [dtype, hash] : known) EXPECT_EQ(hash_of_thousand(dtype, 1), hash) << to_string(dtype);
}

TEST(Unruly, each_rank_has_others) {
  EXPECT_NE(hash_of_thousand(DataType::Float32, 0), hash_of_thousand(DataType::Float32, 1));
}

TEST(Unruly, what_is_behind_the_last_whole_element_stays) {
  std::array<std::byte, 7> memory{};
  write_unruly(memory, DataType::Float32, 0);
  EXPECT_NE(memory[3], std::byte{0});
  for (std::size_t i = 4; i < memory.size(); ++i) EXPECT_EQ(memory[i], std::byte{0}) << i;
}

}  // namespace
}  // namespace weft::bench
