// The cold paths of SlotEndpoint: attaching, reporting, cancelling.
#include "transports/slot_endpoint.hpp"

#include <fmt/format.h>

namespace weft::transports {

bool SlotEndpoint::attach() {
  if (cancelled_ || !side_.attach(lane_)) return false;
  receiver_.attach(side_.receive_ring(lane_), side_.layout());
  return true;
}

bool SlotEndpoint::unexpected(Unexpected* what) { return receiver_.attached() && receiver_.unexpected(what); }

bool SlotEndpoint::peek(Unexpected* what) { return (receiver_.attached() || attach()) && receiver_.peek(what); }

Status SlotEndpoint::failure() {
  if (cancelled_) return {Code::Aborted, fmt::format("lane {:#x} was cancelled", lane_.id), peer_rank_};
  Status lost = watch_.check();
  if (lost.ok() && side_.closed_by_peer(lane_)) {
    lost = {Code::PeerLost, fmt::format("rank {} closed its end of lane {:#x}", peer_rank_, lane_.id), peer_rank_};
  }
  // What was sent before the end can still be received; asked after the end was seen, so that nothing is missed.
  if (!lost.ok() && (receiver_.attached() || attach()) && receiver_.arrived() && !sender_.full()) return {};
  return lost;
}

// Messages are copied when they are posted, and received bytes are lent where they are: no buffer is in use to begin
// with.
void SlotEndpoint::cancel(int /*deadline_ms*/) {
  cancelled_ = true;
  side_.give_up(lane_);
  sender_.close();
  receiver_.detach();
}

Result<std::unique_ptr<Endpoint>> SlotConnection::open_lane(std::uint64_t lane) {
  WEFT_TRY_ASSIGN(const SegmentSide::Lane opened, side_.open(lane));
  return std::unique_ptr<Endpoint>(std::make_unique<SlotEndpoint>(side_, opened, watch_, peer_rank_));
}

}  // namespace weft::transports
