// Ranks of unlike builds find out before they misunderstand each other.
#include "comm/build.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "comm/publish.hpp"
#include "comm/runtime.hpp"
#include "tests/comm/support/thread_ranks.hpp"
#include "transports/local.hpp"

namespace weft::comm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Build, what_is_written_is_read) {
  const std::string text = to_line(own_build()) + "{\"facts\": 1}\n";
  std::string_view rest = text;
  Build build;
  ASSERT_TRUE(take_build(&rest, &build));
  EXPECT_EQ(build, own_build());
  EXPECT_EQ(build.protocol, kProtocol);
  EXPECT_EQ(rest, "{\"facts\": 1}\n");
}

TEST(Build, ranks_of_one_build_keep_what_follows) {
  const std::string line = to_line(own_build());
  const auto rest = of_one_build({line + "a", line, line + "c\nd"});
  ASSERT_TRUE(rest.has_value()) << rest.status().to_string();
  EXPECT_THAT(*rest, ElementsAre("a", "", "c\nd"));
}

TEST(Build, another_protocol_names_both_ranks_and_versions) {
  Build other = own_build();
  other.protocol = 77;
  other.version = "9.8.7";
  const Status status = of_one_build({to_line(own_build()), to_line(own_build()), to_line(other)}).status();
  EXPECT_EQ(status.code(), Code::Unsupported);
  EXPECT_EQ(status.peer(), 2);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("rank 2 is Weft 9.8.7 (protocol 77)"), HasSubstr("rank 0 is Weft 0."),
                    HasSubstr("run the same Weft on all ranks")));
}

TEST(Build, another_version_of_the_same_protocol_and_features_goes_along) {
  Build other = own_build();
  other.version = "0.1.99";
  EXPECT_TRUE(of_one_build({to_line(own_build()), to_line(other)}).has_value());
}

TEST(Build, features_that_differ_are_named) {
  Build other = own_build();
  other.features["algorithms"] = "others";
  other.features["fish"] = "yes";
  const Status status = of_one_build({to_line(own_build()), to_line(other)}).status();
  EXPECT_EQ(status.code(), Code::Unsupported);
  EXPECT_THAT(std::string(status.message()), HasSubstr("their builds differ in: algorithms, fish"));
}

TEST(Build, no_bytes_do_harm) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string line = to_line(own_build());
  for (int round = 0; round < 20'000; ++round) {
    std::string text = line + "rest";
    for (auto changes = random() % 4; changes > 0; --changes)
      text[random() % text.size()] = static_cast<char>(random());
    text.resize(random() % (text.size() + 1));
    std::string_view rest = text;
    Build build;
    if (!take_build(&rest, &build)) {
      EXPECT_EQ(rest, text);
      continue;
    }
    std::string_view again = text;
    Build same;
    ASSERT_TRUE(take_build(&again, &same));
    EXPECT_EQ(build, same);
  }
}

// A rank of a Weft that is yet to be written, and three of this.
TEST(Build, all_ranks_are_told_of_the_one_that_is_unlike) {
  constexpr int kSize = 4;
  const auto stores = transports::LocalStoreHub::create(kSize);
  const auto hub = transports::LocalHub::create();
  testing::run_ranks(kSize, [&](int rank) {
    auto store = stores->store(rank);
    Status told;
    if (rank == 3) {
      ASSERT_TRUE(store->set("agree/facts/3", "+weft 2 0.2.0 telepathy=on\nwhatever").ok());
      told = published(*store, "agree/facts", base::Deadline::after_ms(20'000)).status();
    } else {
      RuntimeParts parts;
      parts.options.rank = rank;
      parts.options.size = kSize;
      parts.options.timeout_ms = 20'000;
      parts.options.topology_file = "model:cpu-2socket";
      parts.store = std::move(store);
      parts.transports.push_back(hub->transport(rank));
      told = Runtime::create(std::move(parts)).status();
    }
    EXPECT_EQ(told.code(), Code::Unsupported) << told.to_string();
    EXPECT_EQ(told.peer(), 3);
    EXPECT_THAT(std::string(told.message()), HasSubstr("rank 3 is Weft 0.2.0 (protocol 2), rank 0 is Weft"));
  });
}

}  // namespace
}  // namespace weft::comm
