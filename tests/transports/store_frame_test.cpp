// The wire format: what is written is read back, what is cut off waits, what is wrong is refused, and no bytes do harm.
#include "transports/store/frame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "tests/transports/store_frame_fuzz.hpp"
#include "transports/store/hello.hpp"

namespace weft::transports {
namespace {

using ::testing::HasSubstr;

Frame sample() {
  return Frame{.type = FrameType::Set,
               .code = 3,
               .request = 0xfedcba98,
               .rank = -1,
               .key = std::string("k\0y", 3),
               .value = "value"};
}

std::string with_byte(std::string bytes, std::size_t offset, char value) {
  bytes[offset] = value;
  return bytes;
}

TEST(StoreFrame, what_is_encoded_is_parsed) {
  const std::string bytes = encode(sample());
  const auto parsed = parse_frame(bytes + "rest");
  ASSERT_TRUE(parsed.has_value() && *parsed);
  EXPECT_EQ((*parsed)->frame, sample());
  EXPECT_EQ((*parsed)->consumed, bytes.size());
}

TEST(StoreFrame, the_bytes_are_those_that_the_header_promises) {
  const Frame frame{.type = FrameType::Get, .code = 1, .request = 2, .rank = 3, .key = "K", .value = "VW"};
  EXPECT_EQ(encode(frame),
            std::string("WEFT\x01\x00\x06\x01\x02\x00\x00\x00\x03\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00KVW", 27));
}

TEST(StoreFrame, every_prefix_waits_for_more) {
  const std::string bytes = encode(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto parsed = parse_frame(std::string_view(bytes).substr(0, length));
    ASSERT_TRUE(parsed.has_value()) << length;
    EXPECT_FALSE(*parsed) << length;
  }
}

TEST(StoreFrame, foreign_bytes_are_refused_at_the_first_that_differs) {
  for (const std::string_view bytes : {"G", "WG", "WEG", "WEFG", "GET / HTTP/1.1\r\n"}) {
    const auto parsed = parse_frame(bytes);
    ASSERT_FALSE(parsed.has_value()) << bytes;
    EXPECT_EQ(parsed.error().code(), Code::Corrupt);
  }
}

TEST(StoreFrame, another_version_is_refused_with_both_named) {
  const auto parsed = parse_frame(with_byte(encode(sample()), 4, 7));
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().code(), Code::Unsupported);
  EXPECT_THAT(std::string(parsed.error().message()), HasSubstr("version 7"));
  EXPECT_THAT(std::string(parsed.error().message()), HasSubstr("version 1"));
}

TEST(StoreFrame, unknown_types_are_refused) {
  EXPECT_FALSE(parse_frame(with_byte(encode(sample()), 6, 0)).has_value());
  EXPECT_FALSE(parse_frame(with_byte(encode(sample()), 6, 99)).has_value());
}

TEST(StoreFrame, lengths_over_the_limit_are_refused_before_the_bytes_come) {
  const std::string header = encode(Frame{}).substr(0, kFrameHeaderBytes);
  const auto key = parse_frame(with_byte(header, 18, 1));  // 64 KiB
  ASSERT_FALSE(key.has_value());
  EXPECT_THAT(std::string(key.error().message()), HasSubstr("key of 65536 bytes"));
  const auto value = parse_frame(with_byte(header, 23, 5));  // 80 MiB
  ASSERT_FALSE(value.has_value());
  EXPECT_THAT(std::string(value.error().message()), HasSubstr("value of 83886080 bytes"));
  EXPECT_FALSE(parse_frame(encode(sample()), {.key_bytes = 3, .value_bytes = 4}).has_value());
  EXPECT_TRUE(parse_frame(encode(sample()), {.key_bytes = 3, .value_bytes = 5}).has_value());
}

TEST(StoreFrame, a_hello_is_read_back_and_nonsense_is_none) {
  const Hello hello{.job = "job 7", .size = 8, .rank = 3, .process = "process 12 on a host"};
  EXPECT_EQ(parse_hello(to_frame(hello)).value(), hello);
  for (const std::string_view value : {"", "8", "x y", "0 p", "-4 p", "3 p", "99999999999 p"}) {
    Frame frame = to_frame(hello);
    frame.value = value;
    EXPECT_FALSE(parse_hello(frame).has_value()) << value;
  }
}

// WEFT_TEST_SEED=n replays a failure; WEFT_TEST_ROUNDS=n tries more.
TEST(StoreFrame, mutated_streams_do_no_harm) {
  const char* const given_seed = std::getenv("WEFT_TEST_SEED");
  const char* const given_rounds = std::getenv("WEFT_TEST_ROUNDS");
  const std::uint64_t seed = given_seed != nullptr ? std::strtoull(given_seed, nullptr, 10) : std::random_device()();
  const int rounds = given_rounds != nullptr ? std::atoi(given_rounds) : 20'000;
  std::cout << "seed " << seed << " (replay with WEFT_TEST_SEED=" << seed << ")\n";
  std::mt19937_64 random(seed);
  const std::string stream =
      encode(sample()) + encode(Frame{}) + encode(to_frame(Hello{.job = "j", .size = 2, .rank = 1, .process = "p"}));
  for (int round = 0; round < rounds; ++round) {
    std::string bytes = stream;
    for (std::uint64_t changes = random() % 4 + 1; changes > 0; --changes) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
          break;
        case 2:
          bytes.erase(at, random() % 8 + 1);
          break;
        default:
          bytes.insert(at, random() % 8 + 1, static_cast<char>(random()));
          break;
      }
      if (bytes.empty()) break;
    }
    check_any_bytes(bytes, {});
    check_any_bytes(bytes, {.key_bytes = 4, .value_bytes = 4});
  }
}

}  // namespace
}  // namespace weft::transports
