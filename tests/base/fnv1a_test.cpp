// FNV-1a gives the numbers that its authors publish.
#include "base/fnv1a.hpp"

#include <gtest/gtest.h>

namespace weft::base {
namespace {

TEST(Fnv1a, texts_have_the_published_hashes) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325U);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8U);
}

TEST(Fnv1a, in_32_bits_too) {
  EXPECT_EQ(fnv1a_32(""), 0x811c9dc5U);
  EXPECT_EQ(fnv1a_32("a"), 0xe40c292cU);
  EXPECT_EQ(fnv1a_32("foobar"), 0xbf9cf968U);
}

TEST(Fnv1a, bytes_one_by_one_are_a_text) {
  Fnv1a hash;
  for (const char c : {'\xff', '\0', 'a'}) hash.add(static_cast<unsigned char>(c));
  EXPECT_EQ(hash.value(), fnv1a({"\xff\0a", 3}));
  EXPECT_NE(Fnv1a(1).value(), Fnv1a().value());
}

}  // namespace
}  // namespace weft::base
