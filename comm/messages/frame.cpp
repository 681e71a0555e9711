// What a peer's frame must look like before anything is believed of it.
#include "comm/messages/frame.hpp"

#include <fmt/format.h>

namespace weft::comm {

Status check(const Frame& frame, int peer) {
  const auto bad = [&](const char* what) {
    return Status(
        Code::Corrupt,
        fmt::format("rank {} sent a message header that is none ({}); run the same Weft everywhere", peer, what), peer);
  };
  if (frame.version != kFrameVersion) return bad("version");
  if (frame.kind < FrameKind::Eager || frame.kind > FrameKind::Credit) return bad("kind");
  const bool message = frame.kind == FrameKind::Eager || frame.kind == FrameKind::Announce;
  if (message && frame.tag < 0) return bad("tag");
  if (frame.kind == FrameKind::Eager && frame.bytes > kEagerBytes) return bad("bytes");
  if (frame.bytes > kMaxMessageBytes) return bad("bytes");
  return {};
}

}  // namespace weft::comm
