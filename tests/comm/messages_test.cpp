// Sends and receives between ranks that are threads: tags, order, any source, sizes that do not fit, timeouts, groups,
// messages to oneself, what is left over at the end.
#include "comm/messages/messages.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/comm/support/forwarding_transport.hpp"
#include "tests/comm/support/thread_ranks.hpp"
#include "weft/communicator.hpp"
#include "weft/operator.hpp"

namespace weft::comm {
namespace {

constexpr std::uint64_t kLong = 300'000;  // bytes; more than is sent before its receive is known

testing::JobOptions local_job() {
  testing::JobOptions job;
  job.options.timeout_ms = 20'000;
  return job;
}

std::vector<std::uint8_t> pattern(std::uint64_t bytes, int seed) {
  std::vector<std::uint8_t> data(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i)
    data[i] = static_cast<std::uint8_t>(i * 31 + i / 251 + static_cast<unsigned>(seed));
  return data;
}

Message send_bytes(const std::vector<std::uint8_t>& data, int peer, int tag = 0) {
  return send(data.data(), data.size(), DataType::UInt8, peer, tag);
}

Message receive_bytes(std::vector<std::uint8_t>& data, int peer = kAnySource, int tag = kAnyTag) {
  return receive(data.data(), data.size(), DataType::UInt8, peer, tag);
}

TEST(Messages, carry_every_length_and_say_what_came) {
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    for (const std::uint64_t bytes : {0, 1, 8, 16, 17, 40, 41, 4096, 65'536, 65'537, 262'145, 1'000'000}) {
      const auto data = pattern(bytes, 3);
      if (communicator.rank() == 0) {
        ASSERT_TRUE(communicator.run(send_bytes(data, 1, 7)).has_value());
      } else {
        std::vector<std::uint8_t> got(bytes + 5, 0xee);
        const auto received = communicator.run(receive_bytes(got));
        ASSERT_TRUE(received.has_value()) << received.status().to_string();
        EXPECT_EQ(*received, (Received{0, 7, bytes}));
        EXPECT_TRUE(std::equal(data.begin(), data.end(), got.begin())) << bytes;
        EXPECT_EQ(got[bytes], 0xee);
      }
    }
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Messages, counts_are_in_elements_of_the_receiver) {
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    if (communicator.rank() == 0) {
      const std::array<float, 3> values{1, 2, 3};
      ASSERT_TRUE(communicator.run(send(values.data(), 3, DataType::Float32, 1)).has_value());
      ASSERT_TRUE(communicator.run(send(values.data(), 6, DataType::UInt8, 1)).has_value());
    } else {
      std::array<float, 8> got{};
      const auto received = communicator.run(receive(got.data(), 8, DataType::Float32));
      ASSERT_TRUE(received.has_value());
      EXPECT_EQ(received->count, 3U);
      EXPECT_EQ(got[2], 3);
      const auto odd = communicator.run(receive(got.data(), 8, DataType::Float32));
      ASSERT_EQ(odd.status().code(), Code::InvalidArgument);
      EXPECT_NE(odd.error().message().find("6 bytes, but that is no whole number of float32"), std::string_view::npos)
          << odd.error().message();
      EXPECT_TRUE(communicator.run(receive(got.data(), 8, DataType::UInt8)).has_value());
    }
  });
}

TEST(Messages, tags_are_told_apart_and_equal_ones_keep_their_order) {
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    constexpr int kMessages = 40;
    if (communicator.rank() == 0) {
      for (int i = 0; i < kMessages; ++i) {
        // Short and long ones: an announced message is not overtaken by one that is sent at once.
        std::vector<std::int32_t> data(i % 3 == 0 && i % 2 == 1 ? 40'000 : 2, i);
        std::uint32_t ticket = 0;
        ASSERT_TRUE(communicator.start(send(data.data(), data.size(), DataType::Int32, 1, i % 2), &ticket).ok());
        EXPECT_TRUE(communicator.wait(ticket).ok());
      }
    } else {
      std::vector<std::int32_t> got(40'000);
      std::vector<std::uint32_t> odd(kMessages / 2);
      std::vector<std::vector<std::int32_t>> odd_got(kMessages / 2, std::vector<std::int32_t>(40'000));
      for (std::size_t i = 0; i < odd.size(); ++i)
        ASSERT_TRUE(communicator.start(receive(odd_got[i].data(), 40'000, DataType::Int32, 0, 1), &odd[i]).ok());
      // The even ones are taken although odd ones were sent before each but the first.
      for (int i = 0; i < kMessages; i += 2) {
        ASSERT_TRUE(communicator.run(receive(got.data(), got.size(), DataType::Int32, 0, 0)).has_value());
        EXPECT_EQ(got[0], i);
      }
      for (std::size_t i = 0; i < odd.size(); ++i) {
        Received received;
        ASSERT_TRUE(communicator.wait(odd[i], &received).ok());
        EXPECT_EQ(odd_got[i][0], static_cast<int>(2 * i + 1));
        EXPECT_EQ(received.tag, 1);
      }
    }
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Messages, of_one_tag_can_be_received_before_earlier_ones_of_another) {
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    // More of the first tag than a rank keeps for a peer.
    constexpr int kMessages = 100;
    const auto data = pattern(20'000, 1);
    static_assert(kMessages * 20'000 > 3 * kEagerRoom);
    if (communicator.rank() == 0) {
      std::vector<std::uint32_t> tickets(kMessages + 1);
      for (int i = 0; i < kMessages; ++i)
        ASSERT_TRUE(communicator.start(send_bytes(data, 1, 5), &tickets[static_cast<std::size_t>(i)]).ok());
      ASSERT_TRUE(communicator.start(send_bytes(data, 1, 6), &tickets.back()).ok());
      for (const std::uint32_t ticket : tickets) EXPECT_TRUE(communicator.wait(ticket).ok());
    } else {
      std::vector<std::uint8_t> got(data.size());
      ASSERT_TRUE(communicator.run(receive_bytes(got, 0, 6)).has_value());
      EXPECT_EQ(got, data);
      for (int i = 0; i < kMessages; ++i) {
        std::fill(got.begin(), got.end(), std::uint8_t{0});
        ASSERT_TRUE(communicator.run(receive_bytes(got, 0, 5)).has_value());
        EXPECT_EQ(got, data);
      }
    }
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Messages, from_any_source_come_from_all_also_while_one_floods) {
  constexpr int kFlood = 5'000;
  std::atomic<bool> others_sent = false;
  testing::run_job(4, local_job(), [&](CommunicatorState& communicator) {
    const int rank = communicator.rank();
    if (rank == 0) {
      std::array<int, 4> from{};
      int until_others = 0;
      for (int i = 0; i < kFlood + 2; ++i) {
        int value = 0;
        const auto received = communicator.run(receive(&value, 1, DataType::Int32));
        ASSERT_TRUE(received.has_value()) << received.status().to_string();
        ASSERT_EQ(received->source, value);
        ++from[static_cast<std::size_t>(received->source)];
        if (others_sent && from[3] == 0) ++until_others;
      }
      EXPECT_EQ(from, (std::array<int, 4>{0, kFlood, 1, 1}));
      EXPECT_LT(until_others, 200);
    } else {
      const int messages = rank == 1 ? kFlood : 1;
      for (int i = 0; i < messages; ++i) {
        ASSERT_TRUE(communicator.run(send(&rank, 1, DataType::Int32, 0, rank)).has_value());
        if (rank == 3) others_sent = true;
      }
    }
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Messages, that_are_too_long_for_their_receive_are_an_error_that_loses_nothing) {
  for (const std::uint64_t bytes : {std::uint64_t{100}, kLong}) {
    for (const bool posted_first : {false, true}) {
      testing::run_job(2, local_job(), [&](CommunicatorState& communicator) {
        const auto data = pattern(bytes, 9);
        if (communicator.rank() == 0) {
          std::uint32_t ticket = 0;
          int go = 0;
          if (posted_first) {
            ASSERT_TRUE(communicator.run(receive(&go, 1, DataType::Int32, 1, 1)).has_value());
          }
          ASSERT_TRUE(communicator.start(send_bytes(data, 1, 4), &ticket).ok());
          if (!posted_first) {
            ASSERT_TRUE(communicator.run(send(&go, 1, DataType::Int32, 1, 2)).has_value());
          }
          EXPECT_TRUE(communicator.wait(ticket).ok());
        } else {
          std::vector<std::uint8_t> small(10, 0xaa), got(bytes);
          std::uint32_t ticket = 0;
          int go = 0;
          if (!posted_first) {
            ASSERT_TRUE(communicator.run(receive(&go, 1, DataType::Int32, 0, 2)).has_value());
          }
          ASSERT_TRUE(communicator.start(receive_bytes(small, 0, 4), &ticket).ok());
          if (posted_first) {
            ASSERT_TRUE(communicator.run(send(&go, 1, DataType::Int32, 0, 1)).has_value());
          }
          const Status status = communicator.wait(ticket);
          EXPECT_EQ(status.code(), Code::InvalidArgument);
          EXPECT_NE(status.message().find("tag 4 has " + std::to_string(bytes) + " bytes, but the buffer holds 10"),
                    std::string_view::npos)
              << status.message();
          EXPECT_EQ(small, std::vector<std::uint8_t>(10, 0xaa));
          EXPECT_TRUE(communicator.health().ok());
          ASSERT_TRUE(communicator.run(receive_bytes(got, 0, 4)).has_value());
          EXPECT_EQ(got, data);
        }
        EXPECT_TRUE(communicator.close().ok());
      });
    }
  }
}

TEST(Messages, of_any_length_are_received_into_an_object) {
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{5'000}, kLong}) {
      const auto data = pattern(bytes, 2);
      if (communicator.rank() == 0) {
        ASSERT_TRUE(communicator.run(send_bytes(data, 1)).has_value());
      } else {
        std::vector<std::byte> object(3);
        const auto received = communicator.run(receive(nullptr, 0, DataType::UInt8), &object);
        ASSERT_TRUE(received.has_value()) << received.status().to_string();
        EXPECT_EQ(received->count, bytes);
        ASSERT_EQ(object.size(), bytes);
        EXPECT_TRUE(bytes == 0 || std::memcmp(object.data(), data.data(), bytes) == 0);
      }
    }
  });
}

TEST(Messages, withdraw_what_nobody_matched_in_time_and_go_on) {
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    const auto data = pattern(kLong, 5);
    std::vector<std::uint8_t> got(kLong);
    int word = 0;
    if (communicator.rank() == 0) {
      Message late = receive_bytes(got, 1, 1);
      late.timeout_ms = 30;
      const auto none = communicator.run(late);
      ASSERT_EQ(none.status().code(), Code::Timeout);
      EXPECT_NE(none.error().message().find("within 30 ms"), std::string_view::npos) << none.error().message();
      late = send_bytes(data, 1, 2);
      late.timeout_ms = 30;
      EXPECT_EQ(communicator.run(late).status().code(), Code::Timeout);
      EXPECT_TRUE(communicator.health().ok());
      ASSERT_TRUE(communicator.run(send(&word, 1, DataType::Int32, 1, 3)).has_value());
      // The receive of tag 2 may have found the announcement of what was withdrawn.
      ASSERT_TRUE(communicator.run(send_bytes(pattern(kLong, 6), 1, 2)).has_value());
    } else {
      ASSERT_TRUE(communicator.run(receive(&word, 1, DataType::Int32, 0, 3)).has_value());
      ASSERT_TRUE(communicator.run(receive_bytes(got, 0, 2)).has_value());
      EXPECT_EQ(got, pattern(kLong, 6));
    }
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Messages, that_are_withdrawn_while_they_are_accepted_leave_the_receive_to_the_next) {
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    constexpr int kRounds = 200;
    std::vector<std::uint8_t> got(kLong);
    for (int round = 0; round < kRounds; ++round) {
      if (communicator.rank() == 0) {
        // Withdrawn at once, at any moment of the peer's: the outcome is either, and the bytes are right.
        const auto first = pattern(kLong, 2 * round), second = pattern(kLong, 2 * round + 1);
        Message hasty = send_bytes(first, 1, 1);
        hasty.timeout_ms = round % 2;
        const bool came = communicator.run(hasty).has_value();
        ASSERT_TRUE(communicator.health().ok()) << communicator.health().to_string();
        const int seed = came ? 2 * round : 2 * round + 1;
        if (!came) {
          ASSERT_TRUE(communicator.run(send_bytes(second, 1, 1)).has_value());
        }
        ASSERT_TRUE(communicator.run(send(&seed, 1, DataType::Int32, 1, 2)).has_value());
      } else {
        int seed = 0;
        ASSERT_TRUE(communicator.run(receive_bytes(got, 0, 1)).has_value());
        ASSERT_TRUE(communicator.run(receive(&seed, 1, DataType::Int32, 0, 2)).has_value());
        ASSERT_EQ(got, pattern(kLong, seed));
      }
    }
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Messages, to_oneself_work_and_one_that_could_only_hang_is_refused) {
  testing::run_job(1, local_job(), [](CommunicatorState& communicator) {
    int value = 5, got = 0;
    ASSERT_TRUE(communicator.run(send(&value, 1, DataType::Int32, 0, 9)).has_value());
    const auto received = communicator.run(receive(&got, 1, DataType::Int32));
    ASSERT_TRUE(received.has_value());
    EXPECT_EQ(*received, (Received{0, 9, 1}));
    EXPECT_EQ(got, 5);
    const auto data = pattern(kLong, 1);
    EXPECT_EQ(communicator.run(send_bytes(data, 0)).status().code(), Code::InvalidArgument);
    std::vector<std::uint8_t> copy(kLong), other(kLong);
    const std::array<Message, 4> group{send_bytes(data, 0, 1), receive_bytes(copy, 0, 1), receive_bytes(other, 0, 2),
                                       send_bytes(data, 0, 2)};
    ASSERT_TRUE(communicator.run(group, {}).ok());
    EXPECT_EQ(copy, data);
    EXPECT_EQ(other, data);
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Messages, to_oneself_that_no_receive_in_flight_has_room_for_are_refused_and_change_nothing) {
  testing::run_job(1, local_job(), [](CommunicatorState& communicator) {
    const auto data = pattern(kLong, 1);
    std::vector<std::uint8_t> small(10), copy(kLong);
    std::array<std::uint32_t, 2> tickets{};
    ASSERT_TRUE(communicator.start(receive_bytes(small, 0, 1), &tickets[0]).ok());
    const Status refused = communicator.run(send_bytes(data, 0, 1)).status();
    EXPECT_EQ(refused.code(), Code::InvalidArgument) << refused.to_string();
    EXPECT_NE(refused.message().find("would wait for itself"), std::string_view::npos) << refused.to_string();
    EXPECT_FALSE(communicator.test(tickets[0]));
    // With room behind it the message is taken there.
    ASSERT_TRUE(communicator.start(receive_bytes(copy, 0, 1), &tickets[1]).ok());
    EXPECT_TRUE(communicator.run(send_bytes(data, 0, 1)).has_value());
    EXPECT_EQ(communicator.wait(tickets[0]).code(), Code::InvalidArgument);
    EXPECT_TRUE(communicator.wait(tickets[1]).ok());
    EXPECT_EQ(copy, data);
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Messages, of_elements_that_only_the_program_knows_are_like_others) {
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    const DataType pair = *opaque_type(16);
    const std::array<std::uint64_t, 6> values{1, 2, 3, 4, 5, 6};
    if (communicator.rank() == 0) {
      const auto sent = communicator.run(send(values.data(), 3, pair, 1));
      ASSERT_TRUE(sent.has_value()) << sent.status().to_string();
    } else {
      std::array<std::uint64_t, 6> got{};
      const auto received = communicator.run(receive(got.data(), 3, pair));
      ASSERT_TRUE(received.has_value()) << received.status().to_string();
      EXPECT_EQ(received->count, 3U);
      EXPECT_EQ(got, values);
    }
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Messages, and_lists_and_objects_have_calls_of_their_own) {
  Options options;
  options.rank = 0;
  options.size = 1;
  auto created = Communicator::create(options);
  ASSERT_TRUE(created.has_value()) << created.status().to_string();
  Communicator& comm = *created;
  float values[3] = {1, 2, 3};
  ASSERT_TRUE(comm.send(values, 3, DataType::Float32, 0, /*tag=*/7).ok());
  const Result<Received> got = comm.receive(values, 3, DataType::Float32, kAnySource, kAnyTag);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(*got, (Received{0, 7, 3}));

  std::vector<std::byte> object(5, std::byte{4}), back;
  ASSERT_TRUE(comm.send(object, 0, 2).ok());
  ASSERT_TRUE(comm.receive(&back, 0, 2).has_value());
  EXPECT_EQ(back, object);
  std::vector<std::vector<std::byte>> all;
  ASSERT_TRUE(comm.broadcast(&back).ok());
  ASSERT_TRUE(comm.all_gather(object, &all).ok());
  EXPECT_EQ(all, (std::vector<std::vector<std::byte>>{object}));

  int in = 0;
  const int out = 5;
  Work receiving = comm.start(receive(&in, 1, DataType::Int32));
  Work moved = std::move(receiving);
  EXPECT_FALSE(moved.test());
  EXPECT_FALSE(moved.wait_for(1));
  ASSERT_TRUE(comm.send(&out, 1, DataType::Int32, 0, 9).ok());
  EXPECT_TRUE(moved.test());
  ASSERT_TRUE(moved.wait().ok());
  EXPECT_EQ(moved.received(), (Received{0, 9, 1}));
  EXPECT_EQ(in, 5);
  EXPECT_EQ(comm.start(send(&out, 1, DataType::Int32, 3)).wait().code(), Code::InvalidArgument);

  const Message ring[] = {send(&out, 1, DataType::Int32, 0), receive(&in, 1, DataType::Int32, 0)};
  EXPECT_TRUE(comm.run(ring).ok());
  std::array<Received, 3> wrong;
  EXPECT_EQ(comm.run(ring, wrong).code(), Code::InvalidArgument);
  const Operation list[] = {all_reduce(values, values, 3, DataType::Float32), barrier()};
  EXPECT_TRUE(comm.run(list).ok());
  EXPECT_TRUE(comm.close().ok());
}

TEST(Messages, in_a_group_cannot_wait_for_each_other) {
  constexpr int kRanks = 8;
  testing::run_job(kRanks, local_job(), [](CommunicatorState& communicator) {
    const int rank = communicator.rank();
    // A ring in which all send first.
    const auto data = pattern(kLong, rank);
    std::vector<std::uint8_t> got(kLong);
    const int before = (rank + kRanks - 1) % kRanks;
    const std::array<Message, 2> ring{send_bytes(data, (rank + 1) % kRanks), receive_bytes(got, before)};
    std::array<Received, 2> received;
    ASSERT_TRUE(communicator.run(ring, received).ok());
    EXPECT_EQ(received[1], (Received{before, 0, kLong}));
    EXPECT_EQ(got, pattern(kLong, before));
    // All to all, oneself among them, in an order of its own on each rank.
    std::vector<std::vector<std::uint8_t>> out, in(kRanks, std::vector<std::uint8_t>(kLong / 4));
    for (int peer = 0; peer < kRanks; ++peer) out.push_back(pattern(kLong / 4, rank * kRanks + peer));
    std::vector<Message> all;
    for (int i = 0; i < kRanks; ++i) {
      const int peer = (i * 3 + rank) % kRanks;
      const auto index = static_cast<std::size_t>(peer);
      if (rank % 2 == 0) all.push_back(send_bytes(out[index], peer));
      all.push_back(receive_bytes(in[index], peer));
      if (rank % 2 == 1) all.push_back(send_bytes(out[index], peer));
    }
    ASSERT_TRUE(communicator.run(all, {}).ok());
    for (int peer = 0; peer < kRanks; ++peer)
      EXPECT_EQ(in[static_cast<std::size_t>(peer)], pattern(kLong / 4, peer * kRanks + rank));
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Messages, move_on_while_the_thread_waits_for_a_collective_and_the_other_way_round) {
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    auto data = pattern(4 * kLong, 7);
    const int peer = 1 - communicator.rank();
    std::vector<std::uint8_t> got(data.size());
    for (int round = 0; round < 4; ++round) {
      std::uint32_t message = 0, collective = 0;
      const bool sends = communicator.rank() == round % 2;
      ASSERT_TRUE(communicator.start(sends ? send_bytes(data, peer) : receive_bytes(got, peer), &message).ok());
      if (round < 2) {
        // One rank waits for the barrier before the message, the other the other way round.
        ASSERT_TRUE(communicator.start(barrier(), &collective).ok());
        if (!sends) {
          EXPECT_TRUE(communicator.wait(message).ok());
        }
        EXPECT_TRUE(communicator.wait(collective).ok());
        if (sends) {
          EXPECT_TRUE(communicator.wait(message).ok());
        }
      } else {
        EXPECT_TRUE(communicator.run(barrier()).ok());
        EXPECT_TRUE(communicator.wait(message).ok());
      }
      if (!sends) {
        EXPECT_EQ(got, data);
      }
    }
  });
}

TEST(Messages, of_64_MiB_arrive_whole_while_short_ones_pass) {
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;
    std::vector<std::uint64_t> data(kBytes / 8);
    int word = 0;
    std::uint32_t ticket = 0;
    if (communicator.rank() == 0) {
      std::iota(data.begin(), data.end(), std::uint64_t{1});
      ASSERT_TRUE(communicator.start(send(data.data(), data.size(), DataType::UInt64, 1, 1), &ticket).ok());
      for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(communicator.run(send(&i, 1, DataType::Int32, 1, 2)).has_value());
      }
      EXPECT_TRUE(communicator.wait(ticket).ok());
    } else {
      ASSERT_TRUE(communicator.start(receive(data.data(), data.size(), DataType::UInt64, 0, 1), &ticket).ok());
      for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(communicator.run(receive(&word, 1, DataType::Int32, 0, 2)).has_value());
        EXPECT_EQ(word, i);
      }
      EXPECT_TRUE(communicator.wait(ticket).ok());
      std::uint64_t wrong = 0;
      for (std::uint64_t i = 0; i < data.size(); ++i) wrong += data[i] != i + 1;
      EXPECT_EQ(wrong, 0U);
    }
  });
}

TEST(Messages, work_in_a_communicator_that_was_split_beside_those_of_its_parent) {
  testing::run_job(4, local_job(), [](CommunicatorState& communicator) {
    auto pair = communicator.split(communicator.rank() / 2, -communicator.rank());
    ASSERT_TRUE(pair.has_value());
    const int world = communicator.rank(), mine = (*pair)->rank();
    int here = 0, there = 0;
    const std::array<Message, 2> inner{send(&world, 1, DataType::Int32, 1 - mine), receive(&here, 1, DataType::Int32)};
    const std::array<Message, 2> outer{send(&world, 1, DataType::Int32, 3 - world),
                                       receive(&there, 1, DataType::Int32)};
    ASSERT_TRUE((*pair)->run(inner, {}).ok());
    ASSERT_TRUE(communicator.run(outer, {}).ok());
    EXPECT_EQ(here, world ^ 1);
    EXPECT_EQ(there, 3 - world);
    EXPECT_TRUE((*pair)->close().ok());
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Messages, with_wrong_arguments_are_refused_by_name_and_a_group_with_one_starts_nothing) {
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    int value = 0;
    const auto refused = [&](Message message, const char* word) {
      const Status status = communicator.run(message).status();
      EXPECT_EQ(status.code(), Code::InvalidArgument) << word;
      EXPECT_NE(status.message().find(word), std::string_view::npos) << status.message();
    };
    refused(send(&value, 1, DataType::Int32, 2), "peer 2");
    refused(send(&value, 1, DataType::Int32, kAnySource), "peer -1");
    refused(receive(&value, 1, DataType::Int32, -2), "peer -2");
    refused(send(&value, 1, DataType::Int32, 1, kAnyTag), "tag is -1");
    refused(receive(&value, 1, DataType::Int32, 1, -2), "tag is -2");
    refused(send(nullptr, 1, DataType::Int32, 1), "buffer is null");
    refused(receive(nullptr, 1, DataType::Int32, 1), "buffer is null");
    refused(send(&value, ~std::uint64_t{0}, DataType::Int32, 1), "count");
    refused(send(&value, 1, static_cast<DataType>(99), 1), "data type");
    Message late = send(&value, 1, DataType::Int32, 1);
    late.timeout_ms = -2;
    refused(late, "timeout_ms");
    const std::array<Message, 2> group{send(&value, 1, DataType::Int32, 1 - communicator.rank()),
                                       send(&value, 1, DataType::Int32, 7)};
    EXPECT_EQ(communicator.run(group, {}).code(), Code::InvalidArgument);
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Messages, that_nobody_received_are_found_at_close) {
  for (const std::uint64_t bytes : {8, 30'000}) {
    std::array<Status, 2> closed;
    testing::run_job(2, local_job(), [&](CommunicatorState& communicator) {
      const auto data = pattern(bytes, 1);
      if (communicator.rank() == 0) {
        ASSERT_TRUE(communicator.run(send_bytes(data, 1, 33)).has_value());
      }
      closed[static_cast<std::size_t>(communicator.rank())] = communicator.close();
    });
    EXPECT_EQ(closed[1].code(), Code::Mismatch) << closed[1].to_string();
    if (bytes == 8) {
      EXPECT_NE(closed[1].message().find("rank 0 sent rank 1 a message that rank 1 never received"),
                std::string_view::npos)
          << closed[1].message();
    }
  }
  // With a lane at the receiver, also which.
  Status closed;
  testing::run_job(2, local_job(), [&](CommunicatorState& communicator) {
    int value = 0;
    if (communicator.rank() == 0) {
      for (const int tag : {1, 33, 34}) {
        ASSERT_TRUE(communicator.run(send(&value, 1, DataType::Int32, 1, tag)).has_value());
      }
    } else {
      ASSERT_TRUE(communicator.run(receive(&value, 1, DataType::Int32, 0, 1)).has_value());
    }
    const Status status = communicator.close();
    if (communicator.rank() == 1) closed = status;
  });
  EXPECT_NE(closed.message().find("2 messages that rank 1 never received: the first has tag 33, 4 bytes"),
            std::string_view::npos)
      << closed.message();
}

TEST(Messages, in_flight_are_named_by_close) {
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    int value = 0;
    std::uint32_t ticket = 0;
    Message message = receive(&value, 1, DataType::Int32, 1 - communicator.rank(), 3);
    message.timeout_ms = 0;
    ASSERT_TRUE(communicator.start(message, &ticket).ok());
    const Status status = communicator.close();
    EXPECT_EQ(status.code(), Code::InvalidArgument);
    EXPECT_NE(status.message().find("receive of up to 1 int32 from rank"), std::string_view::npos) << status.message();
    EXPECT_EQ(communicator.wait(ticket).code(), Code::Timeout);
    EXPECT_TRUE(communicator.close().ok());
  });
}

TEST(Messages, that_never_come_end_by_the_deadline_which_names_who_was_waited_for) {
  testing::JobOptions job = local_job();
  job.options.timeout_ms = 150;
  testing::run_job(2, job, [](CommunicatorState& communicator) {
    if (communicator.rank() == 1) {
      // Answers, but does not send.
      while (communicator.health().ok()) std::this_thread::yield();
      return;
    }
    int value = 0;
    const Status status = communicator.run(receive(&value, 1, DataType::Int32, 1, 4)).status();
    EXPECT_EQ(status.code(), Code::Timeout);
    EXPECT_NE(status.message().find("receive of up to 1 int32 from rank 1, tag 4: rank 0 waited"),
              std::string_view::npos)
        << status.message();
    EXPECT_EQ(communicator.run(barrier()).code(), Code::Timeout);
  });
}

TEST(Messages, end_with_abort_and_with_their_peer) {
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    const auto data = pattern(kLong, 1);
    if (communicator.rank() == 1) {
      communicator.abort("enough");
      return;
    }
    const Status status = communicator.run(send_bytes(data, 1)).status();
    EXPECT_EQ(status.code(), Code::Aborted) << status.to_string();
  });
  testing::run_job(2, local_job(), [](CommunicatorState& communicator) {
    if (communicator.rank() == 1) return;  // destroys its communicator
    int value = 0;
    const Status status = communicator.run(receive(&value, 1, DataType::Int32, 1)).status();
    EXPECT_EQ(status.code(), Code::PeerLost) << status.to_string();
    EXPECT_EQ(status.peer(), 1);
  });
}

// As shared memory finds a process that has ended before this one first named it.
class NothingReachesRank0 final : public testing::ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  Result<std::unique_ptr<transports::Connection>> connect(int self_rank, int peer_rank, std::string_view peer_address,
                                                          int deadline_ms) override {
    if (peer_rank == 0) return Status(Code::PeerLost, "rank 0 no longer listens", 0);
    return ForwardingTransport::connect(self_rank, peer_rank, peer_address, deadline_ms);
  }
};

TEST(Messages, from_any_source_come_from_those_that_are_left) {
  testing::JobOptions job = local_job();
  job.wrap = [](std::unique_ptr<transports::Transport> inner) {
    return std::make_unique<NothingReachesRank0>(std::move(inner));
  };
  testing::run_job(3, job, [](CommunicatorState& communicator) {
    int value = 5;
    if (communicator.rank() == 0) return;  // destroys its communicator
    if (communicator.rank() == 1) {
      ASSERT_TRUE(communicator.run(send(&value, 1, DataType::Int32, 2, 3)).has_value());
      // Not gone before the other has its message.
      ASSERT_TRUE(communicator.run(receive(&value, 1, DataType::Int32, 2)).has_value());
    } else {
      int got = 0;
      const auto received = communicator.run(receive(&got, 1, DataType::Int32));
      ASSERT_TRUE(received.has_value()) << received.status().to_string();
      EXPECT_EQ(*received, (Received{1, 3, 1}));
      ASSERT_TRUE(communicator.run(send(&got, 1, DataType::Int32, 1)).has_value());
    }
  });
  testing::run_job(2, job, [](CommunicatorState& communicator) {
    if (communicator.rank() == 0) return;
    int got = 0;
    const Status status = communicator.run(receive(&got, 1, DataType::Int32)).status();
    EXPECT_EQ(status.code(), Code::PeerLost) << status.to_string();
    EXPECT_NE(status.message().find("rank 0"), std::string_view::npos) << status.to_string();
  });
}

TEST(Messages, name_the_peer_that_died) {
  for (const std::uint64_t last : {0, 1, 3, 6}) {
    testing::JobOptions job = local_job();
    job.transport = "sim";
    job.sim.seed = last;
    job.sim.dying_rank = 1;
    job.sim.dies_at_message = last;
    testing::run_job(3, job, [&](CommunicatorState& communicator) {
      const auto data = pattern(kLong, 1);
      std::vector<std::uint8_t> got(kLong);
      Status status;
      for (int round = 0; round < 20 && status.ok(); ++round) {
        status = communicator.rank() == 1   ? communicator.run(send_bytes(data, 0)).status()
                 : communicator.rank() == 0 ? communicator.run(receive_bytes(got, 1)).status()
                                            : communicator.run(receive_bytes(got, 0)).status();
      }
      if (communicator.rank() == 1) return;
      EXPECT_EQ(status.code(), Code::PeerLost) << last << ": " << status.to_string();
      EXPECT_NE(status.message().find("rank 1"), std::string_view::npos) << status.to_string();
    });
  }
}

}  // namespace
}  // namespace weft::comm
