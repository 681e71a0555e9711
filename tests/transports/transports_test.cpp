// The choice of transports from options.
#include "transports/transports.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::transports {
namespace {

std::vector<std::string> names(const std::vector<std::unique_ptr<Transport>>& transports) {
  std::vector<std::string> result;
  for (const auto& transport : transports) result.emplace_back(transport->name());
  return result;
}

TEST(Transports, shared_memory_comes_before_the_network) {
  const auto transports = make_transports(Options());
  ASSERT_TRUE(transports.has_value()) << transports.error().to_string();
  EXPECT_THAT(names(*transports), ::testing::ElementsAre("shm", "ucx"));
}

TEST(Transports, the_options_say_which_and_in_which_order) {
  Options options;
  options.transports = {"ucx", "shm"};
  EXPECT_THAT(names(make_transports(options).value()), ::testing::ElementsAre("ucx", "shm"));
  options.transports = {"shm"};
  EXPECT_THAT(names(make_transports(options).value()), ::testing::ElementsAre("shm"));
}

TEST(Transports, an_unknown_name_is_an_error_that_lists_the_known_ones) {
  Options options;
  options.transports = {"shm", "carrier_pigeon"};
  const auto transports = make_transports(options);
  ASSERT_FALSE(transports.has_value());
  EXPECT_EQ(transports.error().code(), Code::InvalidArgument);
  EXPECT_THAT(std::string(transports.error().message()), ::testing::HasSubstr("'carrier_pigeon'"));
  EXPECT_THAT(std::string(transports.error().message()), ::testing::HasSubstr("shm, ucx"));
}

TEST(Transports, a_name_given_twice_is_an_error) {
  Options options;
  options.transports = {"shm", "ucx", "shm"};
  const auto transports = make_transports(options);
  ASSERT_FALSE(transports.has_value());
  EXPECT_EQ(transports.error().code(), Code::InvalidArgument);
}

TEST(Transports, a_transport_that_was_asked_for_and_cannot_start_is_an_error) {
  Options options;
  options.transports = {"ucx"};
  options.interface = "no_such_interface";
  const auto transports = make_transports(options);
  ASSERT_FALSE(transports.has_value());
  EXPECT_THAT(std::string(transports.error().message()), ::testing::HasSubstr("no_such_interface"));
}

TEST(Transports, host_ids_separate_the_ranks_of_one_machine) {
  Options left;
  left.transports = {"shm"};
  left.host_id = "left";
  Options right = left;
  right.host_id = "right";
  const auto here = make_transports(left);
  const auto neighbour = make_transports(left);
  const auto there = make_transports(right);
  ASSERT_TRUE(here.has_value() && neighbour.has_value() && there.has_value());
  EXPECT_TRUE((*here)[0]->reaches((*neighbour)[0]->address()));
  EXPECT_FALSE((*here)[0]->reaches((*there)[0]->address()));
  EXPECT_FALSE((*there)[0]->reaches((*here)[0]->address()));
}

}  // namespace
}  // namespace weft::transports
