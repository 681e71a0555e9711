// What ranks tell each other outside the data path, over the store: questions about calls, errors, farewells.
//
// Encoded by hand, little endian, with a version; decode() accepts any bytes.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "comm/call_record.hpp"
#include "weft/status.hpp"

namespace weft::comm {

// Names a communicator across processes: groups made by one split share the id but not their first member.
struct CommunicatorKey {
  std::uint32_t id = 0;
  std::int32_t leader = 0;  // rank in the root communicator of the group's rank 0

  auto operator<=>(const CommunicatorKey&) const = default;
};

enum class ControlKind : std::uint8_t {
  Ask = 1,  // these are my latest calls; do yours agree?
  Report =
      2,  // the answer to an Ask that found no contradiction: my latest call, and the members that I am splitting off
  Fail = 3,  // an error that ends the communicator everywhere
  Left = 4,  // I have destroyed the communicator
  Join = 5,  // I split these members off it: to the first of them with the lowest id that I can take, back with the id
};

inline constexpr std::uint32_t kMaxAskedCalls = 16;

struct ControlMessage {
  ControlKind kind = ControlKind::Ask;
  CommunicatorKey communicator;
  std::vector<CallRecord> calls;  // Ask: up to kMaxAskedCalls, oldest first; Report, Left: none or one
  // Ask: of those calls that reduce with an operator that the program made: what ranks must make alike.
  struct MadeOperator {
    std::uint32_t sequence = 0;  // of the call
    std::string text;

    bool operator==(const MadeOperator&) const = default;
  };
  std::vector<MadeOperator> operators;
  Code code = Code::Ok;       // Fail
  std::int32_t peer = -1;     // Fail: Status::peer()
  std::string text;           // Fail: Status::message(); Join, Report: the members, as far as they fit
  std::uint64_t members = 0;  // Join: a digest of the members' list
  std::uint32_t id = 0;       // Join

  bool operator==(const ControlMessage&) const = default;
};

std::string encode(const ControlMessage& message);
Result<ControlMessage> decode(std::string_view bytes);

}  // namespace weft::comm
