// What every store does, whether its ranks are threads that share a board or talk over TCP on loopback.
#include "transports/store/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <thread>

#include "tests/transports/store_fixture.hpp"

namespace weft::transports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kLongMs = 20'000;

class StoreTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  std::unique_ptr<StoreSet> make(int size) { return make_stores(GetParam(), size); }
};

TEST_P(StoreTest, a_key_set_before_is_found) {
  auto stores = make(2);
  ASSERT_TRUE(stores->at(1).set("colour", "blue").ok());
  EXPECT_EQ(stores->at(0).get("colour", kLongMs).value(), "blue");
  EXPECT_EQ(stores->at(1).get("colour", kLongMs).value(), "blue");
}

TEST_P(StoreTest, a_get_waits_for_a_key_set_later) {
  auto stores = make(2);
  auto waiting = std::async(std::launch::async, [&] { return stores->at(0).get("late", kLongMs); });
  ASSERT_TRUE(stores->at(1).set("late", "came").ok());
  EXPECT_EQ(waiting.get().value(), "came");
}

TEST_P(StoreTest, keys_and_values_hold_any_bytes) {
  auto stores = make(2);
  const std::string key("\0\xff key\n", 7);
  const std::string value("\0\x01\x02\xff", 4);
  ASSERT_TRUE(stores->at(0).set(key, value).ok());
  ASSERT_TRUE(stores->at(0).set("empty", "").ok());
  EXPECT_EQ(stores->at(1).get(key, kLongMs).value(), value);
  EXPECT_EQ(stores->at(1).get("empty", kLongMs).value(), "");
}

TEST_P(StoreTest, a_value_of_several_mebibytes_arrives_whole) {
  auto stores = make(2);
  std::string value(std::size_t{5} << 20, '\0');
  for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>(i * 131 >> 7);
  ASSERT_TRUE(stores->at(1).set("big", value).ok());
  EXPECT_TRUE(stores->at(0).get("big", kLongMs).value() == value);
  EXPECT_TRUE(stores->at(1).get("big", kLongMs).value() == value);
}

TEST_P(StoreTest, a_value_over_the_limit_is_refused_with_both_sizes) {
  auto stores = make(1);
  const Status status = stores->at(0).set("huge", std::string((std::size_t{64} << 20) + 1, 'x'));
  EXPECT_EQ(status.code(), Code::InvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("67108865"));
  EXPECT_EQ(stores->at(0).set("", "x").code(), Code::InvalidArgument);
}

TEST_P(StoreTest, setting_a_key_twice_is_an_error_and_keeps_the_first_value) {
  auto stores = make(2);
  ASSERT_TRUE(stores->at(0).set("key", "first").ok());
  const Status second = stores->at(1).set("key", "second");
  EXPECT_EQ(second.code(), Code::InvalidArgument);
  EXPECT_THAT(std::string(second.message()), HasSubstr("'key' is set already"));
  EXPECT_EQ(stores->at(1).get("key", kLongMs).value(), "first");
}

TEST_P(StoreTest, a_removed_key_is_gone_and_may_be_set_again) {
  auto stores = make(2);
  ASSERT_TRUE(stores->at(0).set("key", "old").ok());
  ASSERT_TRUE(stores->at(1).remove("key").ok());
  ASSERT_TRUE(stores->at(1).remove("key").ok());
  EXPECT_EQ(stores->at(0).get("key", 1).error().code(), Code::Timeout);
  ASSERT_TRUE(stores->at(0).set("key", "new").ok());
  EXPECT_EQ(stores->at(1).get("key", kLongMs).value(), "new");
}

TEST_P(StoreTest, a_timeout_names_the_key_and_who_waited) {
  auto stores = make(2);
  const auto result = stores->at(1).get("never\n", 30);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), Code::Timeout);
  EXPECT_THAT(std::string(result.error().message()), HasSubstr("rank 1 waited 0.03 s for key 'never\\x0a'"));
  EXPECT_THAT(std::string(result.error().message()), Not(HasSubstr("not connected")));
}

TEST_P(StoreTest, a_timeout_names_at_most_16_ranks_that_have_not_connected) {
  auto stores = make_stores(GetParam(), 40, {0, 3});
  const auto result = stores->at(0).get("never", 30);
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(std::string(result.error().message()),
              HasSubstr("1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 and 22 more"));
}

TEST_P(StoreTest, a_timeout_names_the_ranks_that_have_not_connected) {
  auto stores = make_stores(GetParam(), 6, {0, 1, 2, 4});
  for (const int waiting : {0, 4}) {
    const auto result = stores->at(waiting).get("never", 30);
    ASSERT_FALSE(result.has_value());
    EXPECT_THAT(std::string(result.error().message()), HasSubstr("ranks 3, 5 have not connected after 0.03 s"));
  }
}

TEST_P(StoreTest, messages_arrive_in_order_with_their_sender) {
  auto stores = make(3);
  Notices notices;
  stores->at(2).listen(notices.listener());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(stores->at(1).send(2, std::to_string(i)).ok());
  notices.wait_for_messages(100);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(notices.messages()[static_cast<std::size_t>(i)], std::pair(1, std::to_string(i)));
}

TEST_P(StoreTest, a_message_to_all_reaches_all_but_its_sender) {
  auto stores = make(4);
  std::array<Notices, 4> notices;
  for (int rank = 0; rank < 4; ++rank) stores->at(rank).listen(notices[static_cast<std::size_t>(rank)].listener());
  ASSERT_TRUE(stores->at(1).send(-1, "to all").ok());
  ASSERT_TRUE(stores->at(1).send(1, "to myself").ok());
  for (const std::size_t rank : {0, 2, 3}) {
    notices[rank].wait_for_messages(1);
    EXPECT_THAT(notices[rank].messages(), ElementsAre(std::pair(1, std::string("to all"))));
  }
  notices[1].wait_for_messages(1);
  EXPECT_THAT(notices[1].messages(), ElementsAre(std::pair(1, std::string("to myself"))));
  for (int rank = 0; rank < 4; ++rank) stores->at(rank).listen({});
}

TEST_P(StoreTest, messages_before_listen_are_kept) {
  auto stores = make(2);
  ASSERT_TRUE(stores->at(0).send(1, "early").ok());
  ASSERT_TRUE(stores->at(0).send(1, "earlier than listen").ok());
  Notices notices;
  stores->at(1).listen(notices.listener());
  notices.wait_for_messages(2);
  EXPECT_THAT(notices.messages(),
              ElementsAre(std::pair(0, std::string("early")), std::pair(0, std::string("earlier than listen"))));
  stores->at(1).listen({});
}

TEST_P(StoreTest, messages_to_a_rank_that_is_yet_to_come_are_kept) {
  auto stores = make_stores(GetParam(), 2, {0});
  ASSERT_TRUE(stores->at(0).send(1, "welcome").ok());
  Notices notices;
  stores->join(1);
  stores->at(1).listen(notices.listener());
  notices.wait_for_messages(1);
  EXPECT_THAT(notices.messages(), ElementsAre(std::pair(0, std::string("welcome"))));
  stores->at(1).listen({});
}

TEST_P(StoreTest, a_listener_may_send_and_answers_do_not_recurse) {
  auto stores = make(2);
  Notices notices;
  std::atomic<int> depth = 0;
  std::atomic<bool> nested = false;
  const auto bounce = [&](int rank) {
    return Store::Listener{.died = {}, .message = [&, rank](int from, std::string_view text) {
                             if (++depth > 2) nested = true;  // one per rank at most
                             const int n = std::stoi(std::string(text));
                             if (n > 0) {
                               EXPECT_TRUE(stores->at(rank).send(from, std::to_string(n - 1)).ok());
                             } else {
                               notices.add_message(from, text);
                             }
                             --depth;
                           }};
  };
  stores->at(0).listen(bounce(0));
  stores->at(1).listen(bounce(1));
  ASSERT_TRUE(stores->at(0).send(1, "1000").ok());
  notices.wait_for_messages(1);
  EXPECT_FALSE(nested);
  stores->at(0).listen({});
  stores->at(1).listen({});
}

TEST_P(StoreTest, after_removal_no_listener_runs) {
  auto stores = make(3);
  for (int round = 0; round < 50; ++round) {
    std::atomic<bool> removed = false;
    std::atomic<bool> late = false;
    std::atomic<int> heard = 0;
    std::promise<void> first;
    stores->at(2).listen({.died = {}, .message = [&](int, std::string_view) {
                            if (removed) late = true;
                            if (heard++ == 0) first.set_value();
                          }});
    std::thread sender([&] {
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(stores->at(0).send(2, "x").ok());
    });
    first.get_future().wait();
    stores->at(2).listen({});
    removed = true;
    sender.join();
    ASSERT_TRUE(stores->at(2).get("never", 0).status().code() == Code::Timeout);  // has passed all that was under way
    EXPECT_FALSE(late);
  }
}

TEST_P(StoreTest, a_listener_may_remove_itself) {
  auto stores = make(2);
  std::atomic<int> heard = 0;
  std::promise<void> removed;
  stores->at(1).listen({.died = {}, .message = [&](int, std::string_view) {
                          if (++heard > 1) return;
                          stores->at(1).listen({});
                          removed.set_value();
                        }});
  ASSERT_TRUE(stores->at(0).send(1, "a").ok());
  ASSERT_TRUE(stores->at(0).send(1, "b").ok());
  removed.get_future().wait();
  Notices notices;
  stores->at(1).listen(notices.listener());
  notices.wait_for_messages(1);
  EXPECT_THAT(notices.messages(), ElementsAre(std::pair(0, std::string("b"))));
  EXPECT_EQ(heard, 1);
  stores->at(1).listen({});
}

TEST_P(StoreTest, a_death_is_told_to_all_others_once) {
  auto stores = make(4);
  std::array<Notices, 4> notices;
  for (int rank = 0; rank < 4; ++rank) stores->at(rank).listen(notices[static_cast<std::size_t>(rank)].listener());
  ASSERT_TRUE(stores->at(2).send(-1, "last words").ok());
  for (const std::size_t rank : {0, 1, 3}) notices[rank].wait_for_messages(1);
  stores->kill(2);
  for (const std::size_t rank : {0, 1, 3}) {
    notices[rank].wait_for_deaths(1);
    EXPECT_THAT(notices[rank].deaths(), ElementsAre(2));
  }
}

TEST_P(StoreTest, a_death_ends_the_waits_of_others_with_peer_lost) {
  auto stores = make(3);
  std::vector<std::future<Result<std::string>>> waits;
  for (const int rank : {0, 1}) {
    waits.push_back(std::async(std::launch::async, [&, rank] { return stores->at(rank).get("from rank 2", kLongMs); }));
  }
  stores->kill(2);
  for (auto& wait : waits) {
    const auto result = wait.get();
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code(), Code::PeerLost);
    EXPECT_EQ(result.error().peer(), 2);
    EXPECT_THAT(std::string(result.error().message()), HasSubstr("rank 2 died while key 'from rank 2' was awaited"));
  }
}

TEST_P(StoreTest, after_a_death_a_missing_key_is_not_waited_for_but_a_present_one_is_given) {
  auto stores = make(3);
  ASSERT_TRUE(stores->at(2).set("testament", "everything").ok());
  Notices notices;
  stores->at(1).listen(notices.listener());
  stores->kill(2);
  notices.wait_for_deaths(1);
  EXPECT_EQ(stores->at(1).get("missing", kLongMs).error().peer(), 2);
  EXPECT_EQ(stores->at(1).get("testament", kLongMs).value(), "everything");
  stores->at(1).listen({});
}

TEST_P(StoreTest, a_rank_that_comes_after_a_death_is_told) {
  auto stores = make_stores(GetParam(), 3, {0, 1});
  Notices zero;
  stores->at(0).listen(zero.listener());
  stores->kill(1);
  zero.wait_for_deaths(1);
  stores->join(2);
  Notices notices;
  stores->at(2).listen(notices.listener());
  notices.wait_for_deaths(1);
  EXPECT_THAT(notices.deaths(), ElementsAre(1));
  stores->at(2).listen({});
  stores->at(0).listen({});
}

TEST_P(StoreTest, a_rank_that_leaves_is_not_reported_dead) {
  auto stores = make(3);
  Notices notices;
  stores->at(0).listen(notices.listener());
  stores->at(1).leave();
  stores->at(1).leave();
  EXPECT_EQ(stores->at(1).set("key", "value").code(), Code::InvalidArgument);
  stores->drop(1);
  stores->drop(2);
  EXPECT_EQ(stores->at(0).get("never", 50).error().code(), Code::Timeout);  // and not PeerLost
  EXPECT_THAT(notices.deaths(), ElementsAre());
  stores->at(0).listen({});
}

TEST_P(StoreTest, rank_0_may_leave_first) {
  auto stores = make(3);
  Notices notices;
  stores->at(1).listen(notices.listener());
  stores->at(2).listen(notices.listener());
  auto gone = std::async(std::launch::async, [&] { stores->drop(0); });
  stores->drop(2);
  stores->at(1).listen({});
  stores->drop(1);
  gone.get();
  EXPECT_THAT(notices.deaths(), ElementsAre());
}

TEST_P(StoreTest, an_owner_unwound_by_an_exception_counts_as_dead) {
  auto stores = make(2);
  Notices notices;
  stores->at(0).listen(notices.listener());
  try {
    const auto owned = stores->take(1);
    throw std::runtime_error("out of luck");
  } catch (const std::runtime_error&) {
    notices.wait_for_deaths(1);
  }
  EXPECT_THAT(notices.deaths(), ElementsAre(1));
  stores->at(0).listen({});
}

TEST_P(StoreTest, sending_to_a_rank_that_does_not_exist_is_an_error) {
  auto stores = make(2);
  EXPECT_EQ(stores->at(0).send(2, "x").code(), Code::InvalidArgument);
  EXPECT_EQ(stores->at(0).send(-2, "x").code(), Code::InvalidArgument);
}

TEST_P(StoreTest, sixty_four_ranks_exchange_addresses) {
  constexpr int kRanks = 64;
  auto stores = make_stores(GetParam(), kRanks, {0});
  std::vector<std::thread> ranks;
  std::atomic<int> right = 0;
  std::mutex joining;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.emplace_back([&, rank] {
      if (rank != 0) stores->join(rank);
      Store& store = stores->at(rank);
      ASSERT_TRUE(store.set("address/" + std::to_string(rank), "host" + std::to_string(rank)).ok());
      for (int other = 0; other < kRanks; ++other) {
        const auto address = store.get("address/" + std::to_string(other), 60'000);
        ASSERT_TRUE(address.has_value()) << address.error().to_string();
        if (*address == "host" + std::to_string(other)) ++right;
      }
    });
  }
  for (auto& rank : ranks) rank.join();
  EXPECT_EQ(right, kRanks * kRanks);
}

INSTANTIATE_TEST_SUITE_P(Kinds, StoreTest, ::testing::ValuesIn(store_kinds()),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace weft::transports
