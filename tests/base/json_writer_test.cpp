// What JsonWriter writes is JSON as another program reads it, laid out as it was asked to be.
#include "base/json_writer.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <random>

namespace weft::base {
namespace {

using Layout = JsonWriter::Layout;

std::string written(const auto& value) {
  JsonWriter json;
  json.value(value);
  return std::move(json).text();
}

TEST(JsonWriter, elements_stand_on_one_line_unless_asked_otherwise) {
  JsonWriter json;
  json.begin_object(Layout::Lines);
  json.member("name", "a");
  json.begin_list("rows", Layout::Lines);
  json.value(std::vector{1, 2});
  json.begin_object();
  json.member("yes", true);
  json.begin_list("inner", Layout::Lines);  // stays on the line it is on
  json.value(nullptr);
  json.end_list();
  json.end_object();
  json.end_list();
  json.begin_list("none", Layout::Lines);
  json.end_list();
  json.end_object();
  EXPECT_EQ(std::move(json).text(),
            "{\n"
            " \"name\": \"a\",\n"
            " \"rows\": [\n"
            "  [1, 2],\n"
            "  {\"yes\": true, \"inner\": [null]}\n"
            " ],\n"
            " \"none\": []\n"
            "}\n");
}

TEST(JsonWriter, numbers_read_back_equal) {
  for (const double number : {0.0, 1.0, -2.5, 0.1 + 0.2, 1e300, 5e-324, 123456789.0})
    EXPECT_EQ(nlohmann::json::parse(written(number)).get<double>(), number);
  EXPECT_EQ(written(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615\n");
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808\n");
  EXPECT_EQ(written(90.0), "90.0\n") << "a fraction stays one for readers that tell them apart";
}

TEST(JsonWriter, what_is_unknown_or_not_finite_is_null) {
  EXPECT_EQ(written(std::optional<int>()), "null\n");
  EXPECT_EQ(written(std::optional<int>(3)), "3\n");
  EXPECT_EQ(written(std::numeric_limits<double>::infinity()), "null\n");
  EXPECT_EQ(written(std::numeric_limits<double>::quiet_NaN()), "null\n");
}

TEST(JsonWriter, every_character_reads_back_equal) {
  std::string text;
  for (int c = 0; c < 128; ++c) text += static_cast<char>(c);
  text += "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xed\x9f\xbf \xf4\x8f\xbf\xbf";
  EXPECT_EQ(nlohmann::json::parse(written(text)).get<std::string>(), text);
}

TEST(JsonWriter, bytes_that_are_no_utf8_are_mended) {
  EXPECT_EQ(written("caf\xe9"), "\"caf\xef\xbf\xbd\"\n");
  for (const char* wrong : {"\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8", "\xe2\x82"})
    EXPECT_THAT(nlohmann::json::parse(written(wrong)).get<std::string>(), ::testing::StartsWith("\xef\xbf\xbd"));
}

TEST(JsonWriter, random_bytes_make_json) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (unsigned length = random() % 12; length > 0; --length) bytes += static_cast<char>(random());
    EXPECT_TRUE(nlohmann::json::accept(written(bytes))) << "seed " << seed;
  }
}

TEST(JsonWriter, json_of_others_is_taken_as_it_is) {
  JsonWriter json;
  json.begin_object();
  json.key("graph");
  json.raw("{\"a\": 1}\n");
  json.member("b", 2u);
  json.end_object();
  EXPECT_EQ(std::move(json).text(), "{\"graph\": {\"a\": 1}, \"b\": 2}\n");
}

}  // namespace
}  // namespace weft::base
