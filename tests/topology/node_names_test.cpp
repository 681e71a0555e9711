// Foreign texts become names and lines that cannot do harm.
#include "topology/node_names.hpp"

#include <gtest/gtest.h>

namespace weft::topology {
namespace {

TEST(NodeNames, texts_hold_no_control_characters_of_either_kind) {
  EXPECT_EQ(as_plain_text("a\x1b[1m\x7f\n"), "a-[1m--");
  EXPECT_EQ(as_plain_text("\xc2\x9b"
                          "1m"),
            "-1m");  // U+009B begins an escape sequence, too
  EXPECT_EQ(as_plain_text("\xc2\x80\xc2\x9f"), "--");
  EXPECT_EQ(as_plain_text("\xc2\xa0\xc2\xb5s \xc3\x9f"), "\xc2\xa0\xc2\xb5s \xc3\x9f");
  EXPECT_EQ(as_node_name("gpu\xc2\x9b/0"), "gpu--0");
}

TEST(NodeNames, bytes_that_are_no_utf8_are_replaced_one_by_one) {
  EXPECT_EQ(as_plain_text("\xc3"
                          "a\xed\xa0\x80"),
            "-a---");
}

TEST(NodeNames, names_are_given_once) {
  UniqueNames names;
  EXPECT_EQ(names.take("gpu0"), "gpu0");
  EXPECT_EQ(names.take("gpu0"), "gpu0-2");
  EXPECT_EQ(names.take(""), "device");
}

}  // namespace
}  // namespace weft::topology
