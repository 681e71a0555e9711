// Message: one send or receive as a value. Communicator::run, start and the groups of messages take it.
//
// A receive takes the first message that matches it: of its source and tag, or any. Messages from one rank to another
// that match the same receive are taken in the order in which they were sent, and receives that match the same message
// take it in the order in which they were started. Bytes are what is carried: the types of both sides need not agree,
// but a message must hold a whole number of the receiver's elements.
#pragma once

#include <cstdint>

#include "weft/types.hpp"

namespace weft {

inline constexpr int kAnySource = -1;
inline constexpr int kAnyTag = -1;
// As long as the communicator's options allow.
inline constexpr int kUntilDeadline = -1;

enum class Direction : std::uint8_t { Send, Receive };

struct Message {
  Direction direction = Direction::Send;
  const void* in = nullptr;  // Send: count elements; may be null if count is 0
  void* out = nullptr;       // Receive: room for count elements; may be null if count is 0
  std::uint64_t count = 0;
  DataType dtype = DataType::UInt8;
  int peer = kAnySource;  // a rank, also this one; kAnySource only to receive
  int tag = 0;            // from 0; kAnyTag only to receive
  // How long to wait for the peer to take part. Then the message is withdrawn, the outcome is a Timeout, and the
  // communicator goes on as if it had not been started. What has begun to move is finished.
  int timeout_ms = kUntilDeadline;

  bool operator==(const Message&) const = default;
};

// What a receive got.
struct Received {
  int source = kAnySource;
  int tag = kAnyTag;
  std::uint64_t count = 0;  // elements of the receiver's type

  bool operator==(const Received&) const = default;
};

Message send(const void* in, std::uint64_t count, DataType dtype, int peer, int tag = 0);
Message receive(void* out, std::uint64_t count, DataType dtype, int peer = kAnySource, int tag = kAnyTag);

}  // namespace weft
