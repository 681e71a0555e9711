// GUIDs in NCCL's form and in that of sysfs.
#include "topology/guid.hpp"

#include <gtest/gtest.h>

namespace weft::topology {
namespace {

TEST(Guid, the_bytes_of_nccl_stand_in_reverse) {
  EXPECT_EQ(guid_of_nccl("0xa4f8560003a1420c"), "0c42:a103:0056:f8a4");
  EXPECT_EQ(guid_of_nccl("0xa1"), "a100:0000:0000:0000");
  EXPECT_EQ(guid_for_nccl("0c42:a103:0056:f8a4"), "0xa4f8560003a1420c");
  EXPECT_EQ(guid_for_nccl("a100:0000:0000:0000"), "0xa1");
}

TEST(Guid, what_is_no_guid_is_none) {
  for (const char* text : {"", "0x", "0x0", "0", "-1", "0xg", "0x11112222333344445"})
    EXPECT_EQ(guid_of_nccl(text), std::nullopt) << text;
  for (const char* text : {"", "0000:0000:0000:0000", "0c42:a103:0056", "0c42:a103:0056:f8az"})
    EXPECT_EQ(guid_for_nccl(text), std::nullopt) << text;
}

TEST(Guid, bare_digits_are_equal_however_an_identifier_is_written) {
  for (const char* text : {"0x000C42A103000056", "000c:42a1:0300:0056", "c42a103000056", "00-0c-42-a1-03-00-00-56"})
    EXPECT_EQ(bare_digits(text), "c42a103000056") << text;
  for (const char* text : {"", "0x0", "0000:0000:0000:0000"}) EXPECT_EQ(bare_digits(text), "") << text;
}

}  // namespace
}  // namespace weft::topology
