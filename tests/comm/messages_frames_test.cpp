// What a message lane makes of frames that come at an odd moment, and of those that no Weft sends: an error that names
// the peer, and no harm.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "base/deadline.hpp"
#include "comm/messages/messages.hpp"

namespace weft::comm {
namespace {

// Gives whatever frames are asked for, and garbage for payloads.
class Hostile final : public transports::Endpoint {
 public:
  explicit Hostile(std::uint64_t seed) : random_(seed) {}

  bool send(const void* /*data*/, std::size_t /*bytes*/, const transports::Signature& /*signature*/) override {
    if (random_() % 3 == 0) return false;
    ++posted_;
    return true;
  }
  const void* receive(std::size_t bytes, void* landing, const transports::Signature& /*expected*/) override {
    if (random_() % 4 == 0) return nullptr;
    own_.resize(bytes);
    if (bytes == sizeof(Frame)) {
      const Frame frame = draw();
      std::memcpy(own_.data(), &frame, sizeof(frame));
      return own_.data();
    }
    for (std::byte& byte : own_) byte = static_cast<std::byte>(random_());
    if (landing == nullptr || random_() % 2 == 0) return own_.data();
    std::memcpy(landing, own_.data(), bytes);
    return landing;
  }
  void release() override {}
  std::uint64_t sends_done() override { return posted_; }
  bool unexpected(transports::Unexpected* /*what*/) override { return false; }
  bool peek(transports::Unexpected* /*what*/) override { return false; }
  Status failure() override { return {}; }
  void cancel(int /*deadline_ms*/) override {}

 private:
  // Mostly such as could come, with small numbers, so that they meet.
  Frame draw() {
    Frame frame;
    frame.kind = static_cast<FrameKind>(random_() % 100 == 0 ? random_() % 256 : 1 + random_() % 6);
    if (random_() % 500 == 0) frame.version = static_cast<std::uint8_t>(random_());
    frame.tag = random_() % 300 == 0 ? -5 : static_cast<int>(random_() % 3);
    frame.bytes = random_() % 200 == 0 ? random_() : random_() % 400;
    frame.id = static_cast<std::uint32_t>(random_() % 6);
    frame.credit = random_() % 50 == 0 ? static_cast<std::uint32_t>(random_()) : 0;
    return frame;
  }

  std::mt19937_64 random_;
  std::uint64_t posted_ = 0;
  std::vector<std::byte> own_;
};

// Sends the frames that it is given, each when it is asked for, and takes whatever comes.
class Scripted final : public transports::Endpoint {
 public:
  bool send(const void* /*data*/, std::size_t /*bytes*/, const transports::Signature& /*signature*/) override {
    ++posted_;
    return true;
  }
  const void* receive(std::size_t bytes, void* landing, const transports::Signature& /*expected*/) override {
    landing_ = {static_cast<std::byte*>(landing), bytes};
    return frames.empty() ? nullptr : &frames.front();
  }
  void release() override { frames.pop_front(); }
  std::uint64_t sends_done() override { return posted_; }
  bool unexpected(transports::Unexpected* /*what*/) override { return false; }
  bool peek(transports::Unexpected* /*what*/) override { return false; }
  Status failure() override { return {}; }
  void cancel(int /*deadline_ms*/) override {}
  // Until then it was free to write where the next message was to go.
  ~Scripted() override { std::ranges::fill(landing_, std::byte{1}); }

  std::deque<Frame> frames;

 private:
  std::uint64_t posted_ = 0;
  std::span<std::byte> landing_;
};

MessageRequest short_receive(std::vector<std::uint8_t>& buffer, int timeout_ms, std::int32_t& left) {
  MessageRequest request;
  request.message = receive(buffer.data(), buffer.size(), DataType::UInt8, 1, 5);
  request.message.timeout_ms = timeout_ms;
  request.bytes = buffer.size();
  request.deadline = base::Deadline::after_ms(timeout_ms);
  request.left = &left;
  return request;
}

TEST(Messages, that_were_withdrawn_leave_their_receive_the_time_that_it_was_given) {
  Messages messages(0, 2);
  auto endpoint = std::make_unique<Scripted>();
  Scripted& peer = *endpoint;
  messages.add_lane(1, std::move(endpoint), 256);
  std::vector<std::uint8_t> buffer(300);
  std::int32_t left = 1;
  MessageRequest request = short_receive(buffer, 0, left);
  messages.start(request);
  peer.frames.push_back({.kind = FrameKind::Announce, .tag = 5, .bytes = 300, .id = 0});
  EXPECT_TRUE(messages.advance());
  EXPECT_FALSE(messages.withdraw_if_late(request)) << "its message has begun to move";
  EXPECT_EQ(left, 1);
  peer.frames.push_back({.kind = FrameKind::Withdraw, .id = 0});
  EXPECT_TRUE(messages.advance());
  EXPECT_EQ(left, 1);
  EXPECT_TRUE(messages.withdraw_if_late(request));
  EXPECT_EQ(left, 0);
  EXPECT_EQ(request.outcome.code(), Code::Timeout);
  EXPECT_NE(request.outcome.message().find("nothing matched within 0 ms"), std::string_view::npos)
      << request.outcome.message();
  EXPECT_EQ(messages.taken_from(1), 0U);
}

// AddressSanitizer finds it if the memory has gone before the lane.
TEST(Messages, that_are_half_here_when_their_communicator_ends_keep_their_memory_until_the_lane_has_ended) {
  Messages messages(0, 2);
  auto endpoint = std::make_unique<Scripted>();
  endpoint->frames.push_back({.kind = FrameKind::Eager, .tag = 5, .bytes = 200});
  messages.add_lane(1, std::move(endpoint), 256);
  EXPECT_TRUE(messages.advance());
  ASSERT_NE(messages.left_over(1), nullptr);
  EXPECT_FALSE(messages.left_over(1)->whole);
}

TEST(MessageFrames, that_are_none_are_told_by_what_is_wrong) {
  Frame frame;
  EXPECT_TRUE(check(frame, 3).ok());
  frame.version = 9;
  EXPECT_EQ(check(frame, 3).code(), Code::Corrupt);
  EXPECT_NE(check(frame, 3).message().find("rank 3 sent a message header that is none (version)"),
            std::string_view::npos);
  frame = {.kind = static_cast<FrameKind>(0)};
  EXPECT_EQ(check(frame, 3).code(), Code::Corrupt);
  frame = {.kind = FrameKind::Announce, .tag = -1};
  EXPECT_EQ(check(frame, 3).code(), Code::Corrupt);
  frame = {.kind = FrameKind::Eager, .bytes = kEagerBytes + 1};
  EXPECT_EQ(check(frame, 3).code(), Code::Corrupt);
  frame = {.kind = FrameKind::Announce, .bytes = kMaxMessageBytes + 1};
  EXPECT_EQ(check(frame, 3).code(), Code::Corrupt);
}

TEST(MessageFrames, of_any_kind_in_any_order_do_no_harm) {
  int broken = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Messages messages(0, 2);
    messages.add_lane(1, std::make_unique<Hostile>(seed), 256);
    std::mt19937_64 random(seed);
    constexpr std::size_t kRequests = 40;
    std::vector<MessageRequest> requests(kRequests);
    std::vector<std::int32_t> left(kRequests, 0);
    std::vector<std::vector<std::uint8_t>> buffers(kRequests, std::vector<std::uint8_t>(300));
    for (std::size_t i = 0; i < kRequests; ++i) {
      const bool sends = random() % 2 == 0;
      const int tag = static_cast<int>(random() % 3);
      requests[i].message = sends ? send(buffers[i].data(), 300, DataType::UInt8, 1, tag)
                                  : receive(buffers[i].data(), 300, DataType::UInt8, kAnySource, tag);
      requests[i].bytes = 300;
      requests[i].left = &left[i];
      left[i] = 1;
      messages.start(requests[i]);
      for (int round = 0; round < 20; ++round) messages.advance();
      if (left[i] > 0 && random() % 3 == 0)
        static_cast<void>(messages.withdraw(requests[i], Status(Code::Timeout, "late")));
    }
    const Status status = messages.lane(1).broken();
    if (!status.ok()) {
      ++broken;
      EXPECT_EQ(status.code(), Code::Corrupt);
      EXPECT_EQ(status.peer(), 1);
    }
    std::int32_t in_flight = 0;
    for (const std::int32_t one : left) in_flight += one;
    EXPECT_EQ(in_flight, messages.running());
    messages.cancel(0);
  }
  EXPECT_GT(broken, 250);
}

}  // namespace
}  // namespace weft::comm
