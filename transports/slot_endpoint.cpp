// The cold paths of SlotEndpoint: attaching, sharing slots, reporting, cancelling, closing.
#include "transports/slot_endpoint.hpp"

#include <fmt/format.h>

namespace weft::transports {

// The peer may read the last messages later, in the ring, which is its own until it is done, and in the FanOut's slots.
SlotEndpoint::~SlotEndpoint() {
  sender_.learn_credit();  // the ring is another's afterwards
  if (const std::uint64_t sent = sender_.shared_until(); sent > 0) {
    // Both outlive the memory of the FanOuts; a peer that is gone reads nothing.
    fan_out_.keep_until([&side = peer_.side, &watch = peer_.watch, lane = lane_, sent] {
      return side.has_read(lane, sent) || !watch.check().ok();
    });
  }
  peer_.side.close(lane_);
}

FanOut* SlotEndpoint::fan_out() {
  if (sender_.fan_out() == nullptr) {
    if (FanOut* const opened = fan_out_.open(); opened != nullptr) sender_.share(*opened);
  }
  return sender_.fan_out();
}

bool SlotEndpoint::attach() {
  if (cancelled_ || !peer_.side.attach(lane_)) return false;
  receiver_.attach(peer_.side.receive_ring(lane_), peer_.side.layout(),
                   {&peer_.regions.theirs, peer_.process, &peer_.side.given_up_by_peer(lane_)});
  return true;
}

bool SlotEndpoint::unexpected(Unexpected* what) { return receiver_.attached() && receiver_.unexpected(what); }

bool SlotEndpoint::peek(Unexpected* what) { return (receiver_.attached() || attach()) && receiver_.peek(what); }

Status SlotEndpoint::failure() {
  if (cancelled_) return {Code::Aborted, fmt::format("lane {:#x} was cancelled", lane_.id), peer_.rank};
  Status lost = peer_.watch.check();
  if (lost.ok() && receiver_.unreadable())
    return {Code::SystemError, fmt::format("what rank {} sent cannot be read where it says that it is", peer_.rank),
            peer_.rank};
  if (lost.ok() && peer_.side.closed_by_peer(lane_)) {
    lost = {Code::PeerLost, fmt::format("rank {} closed its end of lane {:#x}", peer_.rank, lane_.id), peer_.rank};
  }
  if (lost.ok()) return lost;
  // What was sent before the end can still be received; asked after the end was seen, so that nothing is missed. What
  // lies in the memory of a process that has ended cannot.
  const bool can_receive = (receiver_.attached() || attach()) && receiver_.arrived() && !receiver_.unreadable();
  return can_receive && !sender_.full() ? Status() : lost;
}

// Messages are copied when they are posted, and received bytes are lent where they are: no buffer is in use to begin
// with. A peer that reads this process's memory is told that what it has not read yet is gone. Symmetric memory it may
// still be reading.
void SlotEndpoint::cancel(int /*deadline_ms*/) {
  cancelled_ = true;
  peer_.side.give_up(lane_);
  sender_.close();
  receiver_.detach();
}

Result<std::unique_ptr<Endpoint>> SlotConnection::open_lane(std::uint64_t lane) {
  WEFT_TRY_ASSIGN(const SegmentSide::Lane opened, peer_.side.open(lane));
  return std::unique_ptr<Endpoint>(std::make_unique<SlotEndpoint>(peer_, opened));
}

namespace {

Status too_many(int rank) {
  return {Code::ResourceExhausted,
          fmt::format("{} regions are shared with rank {}; free memory that is not used", RegionTable::kCapacity, rank),
          rank};
}

}  // namespace

Status SlotConnection::map(std::uint32_t region, int deadline_ms) {
  WEFT_TRY_ASSIGN(const Region mapped, peer_.mapper.map(region, deadline_ms));
  if (peer_.regions.theirs.add(mapped)) return {};
  peer_.mapper.unmap(region);
  return too_many(peer_.rank);
}

void SlotConnection::unmap(std::uint32_t region) {
  peer_.regions.theirs.remove(region);
  peer_.mapper.unmap(region);
}

Status SlotConnection::share(const Region& region) {
  return peer_.regions.ours.add(region) ? Status() : too_many(peer_.rank);
}

}  // namespace weft::transports
