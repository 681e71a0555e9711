// Frame: what goes before each payload on a message lane, 40 bytes, so that it shares a cache line with its sequence
// number in shared memory.
//
//   Eager     a message: tag, bytes; up to kInlineBytes are in the frame, more follow as the lane's next message
//   Announce  a message that waits for its receive: tag, bytes, and the sender's number for it
//   Accept    the receiver wants announced message `id`
//   Slice     a part of accepted message `id`; its bytes follow as the lane's next message
//   Withdraw  announced message `id` is not sent after all
//   Credit    nothing but what every frame carries: how much eager room the receiver has given back so far
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "transports/transport.hpp"
#include "weft/status.hpp"

namespace weft::comm {

enum class FrameKind : std::uint8_t { Eager = 1, Announce, Accept, Slice, Withdraw, Credit };

inline constexpr std::uint8_t kFrameVersion = 1;
inline constexpr std::size_t kInlineBytes = 16;
// Longest message that is sent before its receive is known; longer ones are announced.
inline constexpr std::size_t kEagerBytes = std::size_t{64} << 10;
// What a rank keeps for each peer of messages that it was sent and did not ask for: their bytes, and kEagerCost for
// each. A sender that has used it up announces.
inline constexpr std::uint32_t kEagerRoom = std::uint32_t{512} << 10;
inline constexpr std::uint32_t kEagerCost = 64;
// Longest message of all: offsets elsewhere have 48 bits, too.
inline constexpr std::uint64_t kMaxMessageBytes = std::uint64_t{1} << 47;

struct Frame {
  FrameKind kind = FrameKind::Credit;
  std::uint8_t version = kFrameVersion;
  std::uint16_t unused = 0;
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;   // Eager, Announce: of the message; Slice: of this part
  std::uint32_t id = 0;      // Announce, Accept, Slice, Withdraw
  std::uint32_t credit = 0;  // wraps
  std::byte payload[kInlineBytes] = {};
};
static_assert(sizeof(Frame) == 40 && std::is_trivially_copyable_v<Frame>);

// What every message of a message lane is signed with.
inline constexpr transports::Signature kFrameSignature{0, 0x6d657373, kFrameVersion};

// Eager room that a message takes.
inline std::uint32_t eager_cost(std::uint64_t bytes) { return static_cast<std::uint32_t>(bytes) + kEagerCost; }

// Corrupt unless a frame may look like this.
Status check(const Frame& frame, int peer);

}  // namespace weft::comm
