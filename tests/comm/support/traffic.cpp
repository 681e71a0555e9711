// All ranks draw the same messages from the seed; each starts its own ones in an order of its own.
#include "tests/comm/support/traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace weft::testing {
namespace {

struct Sent {
  int from;
  int to;
  int tag;
  std::uint64_t bytes;
};

// How the receives of a round name what they take.
enum class Naming { SourceAndTag, Source, Tag, Nothing };

std::vector<Sent> draw(std::mt19937_64& random, const Traffic& traffic) {
  std::vector<Sent> messages;
  for (int i = 0; i < traffic.messages; ++i) {
    Sent sent{};
    sent.from = static_cast<int>(random() % static_cast<unsigned>(traffic.ranks));
    sent.to = static_cast<int>(random() % static_cast<unsigned>(traffic.ranks));
    sent.tag = static_cast<int>(random() % 3);
    const int kind = static_cast<int>(random() % 4);
    const std::uint64_t most = kind == 0 ? 24 : kind < 3 ? 5'000 : traffic.max_bytes;
    sent.bytes = 8 + random() % most;
    messages.push_back(sent);
  }
  return messages;
}

// The first eight bytes say which message it is.
std::vector<std::uint8_t> content(std::uint64_t index, const Sent& sent) {
  std::vector<std::uint8_t> data(sent.bytes);
  for (std::uint64_t i = 8; i < sent.bytes; ++i)
    data[i] = static_cast<std::uint8_t>((index + 1) * 7 + i * 13 + i / 255);
  std::memcpy(data.data(), &index, 8);
  return data;
}

struct Receiving {
  Message message;
  std::vector<std::uint8_t> buffer;
  std::uint32_t ticket = 0;
  Received received;
};

void check(const Receiving& receiving, const std::vector<Sent>& messages, int rank, std::vector<bool>& seen) {
  std::uint64_t index = 0;
  std::memcpy(&index, receiving.buffer.data(), 8);
  ASSERT_LT(index, messages.size());
  const Sent& sent = messages[index];
  EXPECT_FALSE(seen[index]) << "message " << index << " came twice";
  seen[index] = true;
  EXPECT_EQ(sent.to, rank);
  EXPECT_EQ(receiving.received, (Received{sent.from, sent.tag, sent.bytes}));
  EXPECT_TRUE(receiving.message.peer == kAnySource || receiving.message.peer == sent.from);
  EXPECT_TRUE(receiving.message.tag == kAnyTag || receiving.message.tag == sent.tag);
  const auto expected = content(index, sent);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), receiving.buffer.begin())) << "message " << index;
}

// Receives that name the same get what one rank sent them in the order in which it was sent.
void check_order(const std::vector<Receiving>& receives, const std::vector<Sent>& messages) {
  std::map<std::pair<std::pair<int, int>, std::pair<int, int>>, std::uint64_t> last;
  for (const Receiving& receiving : receives) {
    std::uint64_t index = 0;
    std::memcpy(&index, receiving.buffer.data(), 8);
    if (index >= messages.size()) return;  // told already
    const Sent& sent = messages[index];
    const auto key =
        std::pair(std::pair(receiving.message.peer, receiving.message.tag), std::pair(sent.from, sent.tag));
    const auto [found, first] = last.emplace(key, index);
    if (first) continue;
    EXPECT_LT(found->second, index) << "messages of rank " << sent.from << " with tag " << sent.tag << " out of order";
    found->second = index;
  }
}

void round_of(comm::CommunicatorState& communicator, const std::vector<Sent>& messages, Naming naming,
              std::mt19937_64& random, const Traffic& traffic) {
  const int rank = communicator.rank();
  std::vector<Receiving> receives;
  std::vector<std::vector<std::uint8_t>> sources;
  std::vector<std::pair<bool, std::size_t>> order;  // send?, index
  std::vector<Message> sends;
  for (std::uint64_t i = 0; i < messages.size(); ++i) {
    const Sent& sent = messages[i];
    if (sent.from == rank) {
      sources.push_back(content(i, sent));
      sends.push_back(send(sources.back().data(), sent.bytes, DataType::UInt8, sent.to, sent.tag));
      order.emplace_back(true, sends.size() - 1);
    }
    if (sent.to == rank) {
      const bool source = naming == Naming::SourceAndTag || naming == Naming::Source;
      const bool tag = naming == Naming::SourceAndTag || naming == Naming::Tag;
      Receiving receiving;
      receiving.buffer.resize(traffic.max_bytes + 8);
      receiving.message = receive(nullptr, receiving.buffer.size(), DataType::UInt8, source ? sent.from : kAnySource,
                                  tag ? sent.tag : kAnyTag);
      receives.push_back(std::move(receiving));
      order.emplace_back(false, receives.size() - 1);
    }
  }
  // Sends keep their order, and so do receives, but how they mix is up to each rank.
  std::vector<std::pair<bool, std::size_t>> mixed = order;
  std::shuffle(mixed.begin(), mixed.end(), random);
  std::size_t next_send = 0, next_receive = 0;
  std::vector<std::uint32_t> tickets;
  for (const auto& [is_send, unused] : mixed) {
    std::uint32_t ticket = 0;
    Message message = is_send ? sends[next_send++] : receives[next_receive].message;
    if (!is_send) message.out = receives[next_receive].buffer.data();
    const Status started = communicator.start(message, &ticket);
    ASSERT_TRUE(started.ok()) << started.to_string();
    if (is_send) {
      tickets.push_back(ticket);
    } else {
      receives[next_receive++].ticket = ticket;
    }
  }
  std::vector<bool> seen(messages.size());
  for (Receiving& receiving : receives) {
    const Status status = communicator.wait(receiving.ticket, &receiving.received);
    ASSERT_TRUE(status.ok()) << status.to_string();
    check(receiving, messages, rank, seen);
  }
  check_order(receives, messages);
  for (const std::uint32_t ticket : tickets) EXPECT_TRUE(communicator.wait(ticket).ok());
}

}  // namespace

void run_traffic(const JobOptions& job, const Traffic& traffic) {
  SCOPED_TRACE("seed " + std::to_string(traffic.seed));
  run_job(traffic.ranks, job, [&](comm::CommunicatorState& communicator) {
    std::mt19937_64 agreed(traffic.seed);
    std::mt19937_64 own(traffic.seed * 1000 + static_cast<std::uint64_t>(communicator.rank()));
    for (int round = 0; round < traffic.rounds; ++round) {
      round_of(communicator, draw(agreed, traffic), static_cast<Naming>(round % 4), own, traffic);
      if (::testing::Test::HasFatalFailure()) return;
      // Else a receive that names nothing could take a message of the next round.
      ASSERT_TRUE(communicator.run(barrier()).ok());
    }
    const Status closed = communicator.close();
    EXPECT_TRUE(closed.ok()) << closed.to_string();
  });
}

}  // namespace weft::testing
