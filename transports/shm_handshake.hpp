// What processes of one host say to each other over an abstract Unix socket: a request with proof that the sender knows
// the address, an answer with a descriptor. One packet each. The socket then stays open: its end tells that the peer
// has gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"
#include "transports/nonce.hpp"
#include "transports/shm_address.hpp"
#include "weft/status.hpp"

namespace weft::transports {

struct ShmRequest {
  static constexpr std::uint64_t kMagic = 0x6b736d6873746677;  // "wftshmsk"
  static constexpr std::uint32_t kVersion = 2;                 // of the two packets; segments have their own
  enum class Kind : std::uint32_t {
    Probe,    // a page to try whether mapping works
    Segment,  // the memory of the pair {requester, listener}
    Watch,    // nothing but the open socket
    Region,   // memory of the listener, by its number
  };

  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  Kind kind = Kind::Probe;
  Nonce listener{};   // from the address
  Nonce requester{};  // names the requester's transport
  std::int32_t requester_rank = -1;
  std::int32_t listener_rank = -1;
  std::uint32_t region = 0;  // Kind::Region
};

struct ShmReply {
  enum class Result : std::uint32_t { Ok, WrongVersion, WrongUser, WrongNonce, AlreadyTaken, Failed };

  std::uint64_t magic = ShmRequest::kMagic;
  std::uint32_t version = ShmRequest::kVersion;
  Result result = Result::Ok;
};

// The page behind Kind::Probe.
struct ShmProbe {
  std::uint64_t magic = ShmRequest::kMagic;
  Nonce nonce{};
};

// Makes a socket that listens on the abstract name.
Result<base::FileDescriptor> listen_abstract(std::string_view name);

struct ShmAnswer {
  base::FileDescriptor socket;
  base::FileDescriptor process;  // a pidfd of the listener; invalid where the system has none
  base::FileDescriptor passed;   // what came with the reply
  pid_t pid = 0;                 // of the listener, in this process's namespace; 0: it is not known here
};
// Connects, asks, waits for the answer until the deadline. PeerLost if nobody listens any more.
Result<ShmAnswer> ask(const ShmAddress& peer, const ShmRequest& request, int deadline_ms);

// Server side. Nothing if no whole request is there yet or it is none; `end` is set when the connection is of no use
// any more.
std::optional<ShmRequest> read_request(const base::FileDescriptor& socket, bool* end);
// passed: a descriptor to send along, or -1.
bool send_reply(const base::FileDescriptor& socket, const ShmReply& reply, int passed);
// Whether the process at the other end runs as this user.
bool same_user(const base::FileDescriptor& socket);

}  // namespace weft::transports
