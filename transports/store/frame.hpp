// Frame: what the ranks of a store say to each other, as a value and as bytes on the wire.
//
//   bytes  0..3   magic "WEFT"                      all numbers little-endian
//          4..5   protocol version
//          6      type
//          7      code: a weft::Code, in Failed
//          8..11  request: joins a reply to its question
//         12..15  rank: who sent, who shall receive, who died
//         16..19  bytes of the key
//         20..23  bytes of the value
//         24..    key, value
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weft/status.hpp"

namespace weft::transports {

inline constexpr std::uint16_t kFrameVersion = 1;
inline constexpr std::size_t kFrameHeaderBytes = 24;
inline constexpr std::size_t kMaxKeyBytes = 4096;
inline constexpr std::size_t kMaxValueBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxHelloBytes = 1024;  // of key and of value, while the other side is a stranger

enum class FrameType : std::uint8_t {
  Hello = 1,  // rank -> server: key is the job, value is size and process; is this the store of my job?
  Welcome,    // server -> rank: yes
  Refused,    // server -> rank: value says why; code 0 if another port may be the right one, 1 if no port will do
  Join,       // rank -> server: from here on I am a member, and my end is a death unless I leave
  Set,        // key, value      -> Done or Failed
  Get,        // key             -> Value or Failed, once known
  Cancel,     // request         -> Failed(Timeout, value: ranks that have not connected) if the Get still waits
  Remove,     // key             -> Done
  Send,       // rank (-1: all others), value; no reply
  Leave,      //                 -> Done
  Done,
  Value,    // value
  Failed,   // code, rank (the peer to blame), value: message
  Message,  // rank: from, value
  Died,     // rank
  Closing,  // rank 0 has left: the end of this connection is no death
};

struct Frame {
  FrameType type = FrameType::Hello;
  std::uint8_t code = 0;
  std::uint32_t request = 0;
  std::int32_t rank = -1;
  std::string key{};
  std::string value{};

  bool operator==(const Frame&) const = default;
};

std::string encode(const Frame& frame);

struct FrameLimits {
  std::size_t key_bytes = kMaxKeyBytes;
  std::size_t value_bytes = kMaxValueBytes;
};

struct ParsedFrame {
  Frame frame;
  std::size_t consumed = 0;  // bytes of the input that it took
};

// The first frame of `bytes`; nothing yet if more bytes are needed. Corrupt names what is wrong: magic, version (both
// are named), type, a length over its limit. Pure; a wrong prefix is refused as soon as it can be seen.
Result<std::optional<ParsedFrame>> parse_frame(std::string_view bytes, const FrameLimits& limits = {});

}  // namespace weft::transports
