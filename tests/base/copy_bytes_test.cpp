// Both copies move every byte and no other, at the sizes where it changes its method and at every offset in a vector.
#include "base/copy_bytes.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weft::base {
namespace {

constexpr std::size_t kMargin = 80;

std::vector<unsigned char> pattern(std::size_t bytes) {
  std::vector<unsigned char> result(bytes);
  for (std::size_t i = 0; i < bytes; ++i) result[i] = static_cast<unsigned char>(i * 131 + i / 256 * 7 + 1);
  return result;
}

using Copy = void (*)(void* dst, const void* src, std::size_t bytes) noexcept;

void expect_exact_copy(Copy copy, std::size_t bytes, std::size_t dst_offset, std::size_t src_offset) {
  const std::vector<unsigned char> source = pattern(bytes + kMargin);
  std::vector<unsigned char> target(bytes + 2 * kMargin, 0xee);
  copy(target.data() + dst_offset, source.data() + src_offset, bytes);
  for (std::size_t i = 0; i < target.size(); ++i) {
    const bool inside = i >= dst_offset && i < dst_offset + bytes;
    ASSERT_EQ(target[i], inside ? source[i - dst_offset + src_offset] : 0xee)
        << bytes << " bytes, offsets " << dst_offset << " and " << src_offset << ", at " << i;
  }
}

class Copies : public testing::TestWithParam<Copy> {};

TEST_P(Copies, move_every_size_up_to_some_pages) {
  for (std::size_t bytes = 0; bytes <= 300; ++bytes) expect_exact_copy(GetParam(), bytes, 1, 2);
  for (std::size_t bytes = 300; bytes <= 20000; bytes = bytes * 11 / 10) expect_exact_copy(GetParam(), bytes, 3, 0);
}

TEST_P(Copies, move_at_every_offset) {
  for (const std::size_t bytes : {63, 2047, 2048, 2049, 4096, 8191, 65537})
    for (std::size_t offset = 0; offset < 66; offset += 5) {
      expect_exact_copy(GetParam(), bytes, offset, 0);
      expect_exact_copy(GetParam(), bytes, 0, offset);
    }
}

TEST_P(Copies, move_what_is_larger_than_the_caches) {
  expect_exact_copy(GetParam(), (std::size_t{17} << 20) + 13, 7, 1);
}

TEST_P(Copies, onto_itself_or_of_nothing_do_nothing) {
  std::vector<unsigned char> bytes = pattern(10000);
  GetParam()(bytes.data(), bytes.data(), bytes.size());
  EXPECT_EQ(bytes, pattern(10000));
  GetParam()(nullptr, nullptr, 0);
}

INSTANTIATE_TEST_SUITE_P(All, Copies, testing::Values(&copy_bytes, &copy_streaming),
                         [](const auto& info) { return info.index == 0 ? "copy_bytes" : "copy_streaming"; });

}  // namespace
}  // namespace weft::base
