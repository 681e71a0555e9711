// Status and Result: what is kept through copies, context and the two WEFT_TRY macros.
#include "weft/status.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace weft {
namespace {

TEST(Status, default_is_ok_and_costs_one_pointer) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), Code::Ok);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.peer(), -1);
  EXPECT_EQ(status.to_string(), "ok");
  EXPECT_EQ(sizeof(Status), sizeof(void*));
}

TEST(Status, code_ok_makes_no_error) { EXPECT_TRUE(Status(Code::Ok, "ignored").ok()); }

TEST(Status, copies_are_independent) {
  Status first(Code::PeerLost, "rank 3 died", 3);
  Status second = first;
  first = Status();
  EXPECT_TRUE(first.ok());
  EXPECT_EQ(second.code(), Code::PeerLost);
  EXPECT_EQ(second.message(), "rank 3 died");
  EXPECT_EQ(second.peer(), 3);
  const Status& itself = second;
  second = itself;
  EXPECT_EQ(second.to_string(), "peer lost: rank 3 died");
}

TEST(Status, context_goes_before_the_message_and_keeps_code_and_peer) {
  const Status status = Status(Code::Timeout, "waited 30 s", 2).with_context("all_reduce #42");
  EXPECT_EQ(status.to_string(), "timeout: all_reduce #42: waited 30 s");
  EXPECT_EQ(status.peer(), 2);
  EXPECT_TRUE(Status().with_context("all_reduce #42").ok());
}

TEST(Status, every_code_has_a_name_of_its_own) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(Code::Internal); ++code)
    names.emplace(to_string(static_cast<Code>(code)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Code::Internal) + 1);
  EXPECT_FALSE(names.contains("unknown code"));
}

Result<int> half_of(int value) {
  if (value % 2 != 0) return Status(Code::InvalidArgument, "odd");
  return value / 2;
}

Status check_even(int value) {
  WEFT_TRY(half_of(value).status());
  return {};
}

Result<int> quarter_of(int value) {
  WEFT_TRY_ASSIGN(const int half, half_of(value));
  WEFT_TRY_ASSIGN(int quarter, half_of(half));
  return quarter;
}

TEST(Result, holds_a_value_or_the_reason_why_not) {
  EXPECT_TRUE(half_of(4));
  EXPECT_EQ(*half_of(4), 2);
  EXPECT_TRUE(half_of(4).status().ok());
  EXPECT_FALSE(half_of(3));
  EXPECT_EQ(half_of(3).error().message(), "odd");
  EXPECT_EQ(half_of(3).status().code(), Code::InvalidArgument);
}

TEST(Result, moves_what_cannot_be_copied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  ASSERT_TRUE(result);
  const std::unique_ptr<int> value = std::move(*result);
  EXPECT_EQ(*value, 5);
}

TEST(Result, a_status_in_a_result_of_status_like_types_stays_apart) {
  const Result<std::string> text = std::string("ok");
  EXPECT_TRUE(text);
  EXPECT_EQ(text->size(), 2u);
}

TEST(Try, returns_the_error_of_a_status_and_goes_on_when_ok) {
  EXPECT_TRUE(check_even(2).ok());
  EXPECT_EQ(check_even(3).message(), "odd");
}

TEST(TryAssign, assigns_or_returns_the_error) {
  EXPECT_EQ(*quarter_of(8), 2);
  EXPECT_EQ(quarter_of(6).error().message(), "odd");
  EXPECT_EQ(quarter_of(7).error().message(), "odd");
}

}  // namespace
}  // namespace weft
