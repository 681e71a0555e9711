// Strict reading: every complaint names its place, and nothing that was not asked for is passed over.
#include "base/json_reader.hpp"

#include <gmock/gmock.h>

namespace weft::base {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Part {
  int number = 0;
  std::vector<std::string> names;
};
struct Whole {
  std::string name;
  std::optional<double> weight;
  std::uint64_t bytes = 7;
  std::vector<Part> parts;
};

Status read_part(const JsonValue& value, Part& part) {
  JsonObject object(value);
  object.required("number", part.number, 1, 10);
  object.optional_by("names", [&](const JsonValue& names) {
    return names.read_list(2, [&](const JsonValue& name) { return name.read(part.names.emplace_back()); });
  });
  return object.finish();
}

Result<Whole> read(std::string_view text) {
  WEFT_TRY_ASSIGN(const JsonDocument document, JsonDocument::parse("test JSON", text));
  Whole whole;
  JsonObject object(document.root());
  object.required("name", whole.name);
  object.optional("weight", whole.weight);
  object.optional("bytes", whole.bytes);
  object.optional_by("parts", [&](const JsonValue& parts) {
    return parts.read_list(3, [&](const JsonValue& part) { return read_part(part, whole.parts.emplace_back()); });
  });
  WEFT_TRY(object.finish());
  return whole;
}

std::string complaint(std::string_view text) {
  const auto whole = read(text);
  if (whole) return "read";
  EXPECT_EQ(whole.error().code(), Code::Corrupt);
  return std::string(whole.error().message());
}

TEST(JsonReader, reads_what_it_is_asked_for) {
  const auto whole =
      read(R"({"name": "w", "weight": 2, "parts": [{"number": 3, "names": ["a", "b"]}, {"number": 10}]})");
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_EQ(whole->name, "w");
  EXPECT_EQ(whole->weight, 2.0);
  EXPECT_EQ(whole->bytes, 7u);
  ASSERT_EQ(whole->parts.size(), 2u);
  EXPECT_THAT(whole->parts[0].names, ElementsAre("a", "b"));
  EXPECT_EQ(whole->parts[1].number, 10);
}

TEST(JsonReader, every_complaint_names_its_place) {
  EXPECT_EQ(complaint("[]"), "test JSON: the document is not an object");
  EXPECT_EQ(complaint("{}"), "test JSON: the document lacks \"name\"");
  EXPECT_EQ(complaint(R"({"name": 1})"), "test JSON: name is not a text");
  EXPECT_EQ(complaint(R"({"name": "", "size": 1})"), "test JSON: the document has the unknown member \"size\"");
  EXPECT_EQ(complaint(R"({"name": "", "weight": "heavy"})"), "test JSON: weight is not a number");
  EXPECT_EQ(complaint(R"({"name": "", "bytes": -1})"), "test JSON: bytes is not a whole number from 0");
  EXPECT_EQ(complaint(R"({"name": "", "parts": {}})"), "test JSON: parts is not a list");
  EXPECT_EQ(complaint(R"({"name": "", "parts": [1, 2, 3, 4]})"), "test JSON: parts has 4 elements, the most is 3");
  EXPECT_EQ(complaint(R"({"name": "", "parts": [{"number": 1}, 2]})"), "test JSON: parts[1] is not an object");
  EXPECT_EQ(complaint(R"({"name": "", "parts": [{"number": 11}]})"),
            "test JSON: parts[0].number is not a whole number from 1 to 10");
  EXPECT_EQ(complaint(R"({"name": "", "parts": [{"number": 1.0}]})"),
            "test JSON: parts[0].number is not a whole number from 1 to 10");
  EXPECT_EQ(complaint(R"({"name": "", "parts": [{"number": 18446744073709551615}]})"),
            "test JSON: parts[0].number is not a whole number from 1 to 10");
  EXPECT_EQ(complaint(R"({"name": "", "parts": [{"number": 1, "names": ["a", null]}]})"),
            "test JSON: parts[0].names[1] is not a text");
  EXPECT_EQ(complaint(R"({"name": "", "parts": [{"number": 1, "nmes": []}]})"),
            "test JSON: parts[0] has the unknown member \"nmes\"");
}

TEST(JsonReader, text_that_is_no_json_is_refused_with_line_and_column) {
  EXPECT_EQ(complaint(""), "test JSON: there is nothing in it");
  EXPECT_EQ(complaint("{\"name\":\n  oops}"), "test JSON: not JSON at line 2, column 3");
  EXPECT_EQ(complaint("{} x"), "test JSON: not JSON at line 1, column 4");
  EXPECT_EQ(complaint("{\"name\": \"\xff\"}"), "test JSON: not JSON at line 1, column 11");
  EXPECT_EQ(complaint(R"({"name": "", "weight": 1e400})"),
            "test JSON: the number 1e400 at line 1, column 28 is too large");
}

TEST(JsonReader, what_would_take_memory_or_mean_two_things_is_refused) {
  EXPECT_EQ(complaint(std::string(100'000, '[')), "test JSON: nested more than 16 deep");
  EXPECT_EQ(complaint(R"({"name": "", "name": ""})"), "test JSON: \"name\" is given twice");
  EXPECT_EQ(complaint(R"({"name": "", "parts": [{"number": 1, "number": 2}]})"),
            "test JSON: \"number\" is given twice");
}

// Lists by path; what is read of them, and the complaint of the whole.
struct Streamed {
  std::vector<int> numbers;
  std::vector<std::string> inner;
  std::string complaint;
};

Streamed stream(std::string_view text, std::size_t most_values = 100) {
  Streamed read;
  JsonPlan plan;
  plan.kept = {"numbers", "whole"};
  plan.most_values = most_values;
  plan.most_word_bytes = 20;
  plan.lists.push_back(
      {"numbers", 3, [&](const JsonValue& value) { return value.read(read.numbers.emplace_back(), 0, 9); }});
  plan.lists.push_back({"whole.parts", 100, [&](const JsonValue& value) {
                          JsonObject object(value);
                          object.required("name", read.inner.emplace_back());
                          return object.finish();
                        }});
  const auto document = JsonDocument::parse("test JSON", text, plan);
  if (!document) read.complaint = document.error().message();
  return read;
}

TEST(JsonReader, lists_are_read_element_by_element_and_not_kept) {
  const Streamed read =
      stream(R"({"x": [[{"numbers": [7]}], 1], "numbers": [1, 2], "whole": {"parts": [{"name": "a"}]}})");
  EXPECT_EQ(read.complaint, "");
  EXPECT_THAT(read.numbers, ElementsAre(1, 2));
  EXPECT_THAT(read.inner, ElementsAre("a"));
  EXPECT_EQ(stream(R"({"numbers": [1, 10, x)").complaint, "test JSON: numbers[1] is not a whole number from 0 to 9");
  EXPECT_EQ(stream(R"({"numbers": [1, 2, 3, 4]})").complaint, "test JSON: numbers has more than 3 elements");
  EXPECT_EQ(stream(R"({"whole": {"parts": [{"name": "a"}, {"name": [1]}]}})").complaint,
            "test JSON: whole.parts[1].name is not a text");
}

TEST(JsonReader, what_a_plan_does_not_keep_is_null) {
  JsonPlan plan;
  plan.kept = {"a", "list"};
  plan.lists.push_back({"list", 1, [](const JsonValue&) { return Status(); }});
  const auto document =
      JsonDocument::parse("test JSON", R"({"b": {"a": 1, "a": 2}, "a": [1], "list": {"x": []}})", plan);
  ASSERT_TRUE(document) << document.error().to_string();
  EXPECT_EQ(document->root().size(), 3u);
  EXPECT_FALSE(document->root().member("b")->check_object().ok());
  EXPECT_TRUE(document->root().member("a")->check_list(1).ok());
  EXPECT_FALSE(document->root().member("list")->check_object().ok());
}

TEST(JsonReader, a_plan_bounds_what_is_held_at_one_time) {
  EXPECT_EQ(stream(R"({"whole": {"a": 1, "b": [2]}})", 4).complaint, "test JSON: more than 4 values in one place");
  EXPECT_EQ(stream(R"({"whole": {"parts": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}})", 5).complaint, "");
  EXPECT_EQ(stream(R"({"x": "01234567890123456789"})").complaint,
            "test JSON: the text, number or blank at line 1, column 7 is longer than 20 bytes");
  EXPECT_EQ(stream("{\n" + std::string(40, ' ') + "}").complaint,
            "test JSON: the text, number or blank at line 1, column 2 is longer than 20 bytes");
}

TEST(JsonReader, names_from_the_document_stay_on_one_line) {
  EXPECT_EQ(complaint(R"({"name": "", "a\nb\u001b[1m": 1})"),
            "test JSON: the document has the unknown member \"a?b?[1m\"");
  EXPECT_EQ(complaint(R"({"a\nb": 1, "a\nb": 1})"), "test JSON: \"a?b\" is given twice");
}

}  // namespace
}  // namespace weft::base
