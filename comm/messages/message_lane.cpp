// Frames out, frames in.
#include "comm/messages/message_lane.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "base/copy_bytes.hpp"

namespace weft::comm {
namespace {

// Of a lane's long messages together: what is queued before anything that is sent later.
constexpr std::size_t kMaxSlices = 8;
// Messages of the transport that are taken in before other lanes have their turn.
constexpr int kTurn = 32;

}  // namespace

// ---- out ----

bool MessageLane::fits_eager(std::uint64_t bytes) const {
  if (bytes > kEagerBytes || bytes > slice_) return false;
  return used_ - back_ + eager_cost(bytes) <= kEagerRoom;
}

void MessageLane::send(MessageRequest& request) {
  ++sent;
  Item item;
  item.frame.tag = request.message.tag;
  item.frame.bytes = request.bytes;
  if (fits_eager(request.bytes)) {
    used_ += eager_cost(request.bytes);
    item.frame.kind = FrameKind::Eager;
    item.request = &request;
    item.last = true;
    if (request.bytes <= kInlineBytes) {
      if (request.bytes > 0) std::memcpy(item.frame.payload, request.from(), request.bytes);
    } else {
      item.data = request.from();
      item.bytes = request.bytes;
    }
  } else {
    item.frame.kind = FrameKind::Announce;
    item.frame.id = request.id = next_id_++;
    announced_.push_back(&request);
  }
  items_.push_back(item);
  static_cast<void>(move_out());
}

void MessageLane::accept(MessageRequest& receive, std::uint32_t id) {
  receiving_.push_back({id, &receive});
  push({.kind = FrameKind::Accept, .id = id});
}

bool MessageLane::withdraw(MessageRequest& send) {
  const auto announced = std::find(announced_.begin(), announced_.end(), &send);
  const bool eager = announced == announced_.end();
  const auto waits = [&](const Item& item) {
    if (item.begun) return false;
    return eager ? item.frame.kind == FrameKind::Eager && item.request == &send
                 : item.frame.kind == FrameKind::Announce && item.frame.id == send.id;
  };
  const auto item = std::find_if(items_.begin() + static_cast<std::ptrdiff_t>(posted_items_), items_.end(), waits);
  if (item == items_.end()) {
    if (eager) return false;
    push({.kind = FrameKind::Withdraw, .id = send.id});
  } else {
    *item = Item();  // an empty frame: taken out of the middle it would move those that are being read
  }
  if (eager) used_ -= eager_cost(send.bytes);
  if (!eager) announced_.erase(announced);
  --sent;
  return true;
}

bool MessageLane::push_slice() {
  if (accepted_.empty() || slices_ == kMaxSlices) return false;
  MessageRequest& request = *accepted_.front();
  accepted_.pop_front();
  Item item;
  item.frame.kind = FrameKind::Slice;
  item.frame.id = request.id;
  item.bytes = std::min<std::uint64_t>(request.bytes - request.moved, slice_);
  item.frame.bytes = item.bytes;
  item.data = request.from() + request.moved;
  item.request = &request;
  request.moved += item.bytes;
  item.last = request.moved == request.bytes;
  if (!item.last) accepted_.push_back(&request);
  items_.push_back(item);
  ++slices_;
  return true;
}

// True once all of the item is posted.
bool MessageLane::post(Item& item) {
  if (!item.begun) {
    item.frame.credit = given_;
    if (!endpoint_->send(&item.frame, sizeof(Frame), kFrameSignature)) return false;
    told_ = item.frame.credit;
    item.begun = true;
    ++posted_;
  }
  if (item.bytes > 0) {
    if (!endpoint_->send(item.data, item.bytes, kFrameSignature)) return false;
    ++posted_;
  }
  item.end = posted_;
  return true;
}

bool MessageLane::move_out() {
  bool moved = false;
  if (given_ - told_ >= kEagerRoom / 2 && posted_items_ == items_.size()) push({});
  do {
    while (posted_items_ < items_.size() && post(items_[posted_items_])) {
      ++posted_items_;
      moved = true;
    }
  } while (posted_items_ == items_.size() && push_slice());
  const std::uint64_t done = items_.empty() ? 0 : endpoint_->sends_done();
  while (posted_items_ > 0 && items_.front().end <= done) {
    settle(items_.front());
    items_.pop_front();
    --posted_items_;
    moved = true;
  }
  return moved;
}

void MessageLane::settle(const Item& item) {
  if (item.frame.kind == FrameKind::Slice) --slices_;
  if (!item.last) return;
  finished_one_ = true;
  sink_.done(*item.request);
}

// ---- in ----

bool MessageLane::advance() {
  finished_one_ = false;
  bool moved = !items_.empty() || !accepted_.empty() || given_ != told_ ? move_out() : false;
  for (int turn = 0; turn < kTurn && !finished_one_ && broken_.ok() && take_in(); ++turn) moved = true;
  // Answers to what came in.
  if (posted_items_ < items_.size() || !accepted_.empty()) moved = move_out() || moved;
  return moved;
}

bool MessageLane::take_in() {
  if (!payload_.awaited) {
    const void* const lent = endpoint_->receive(sizeof(Frame), &landing_, kFrameSignature);
    if (lent == nullptr) return false;
    Frame frame;
    std::memcpy(&frame, lent, sizeof(Frame));
    endpoint_->release();
    broken_ = check(frame, peer_);
    if (broken_.ok()) handle(frame);
    return true;
  }
  const void* const lent = endpoint_->receive(payload_.bytes, payload_.place.to, kFrameSignature);
  if (lent == nullptr) return false;
  if (lent != payload_.place.to) base::copy_bytes(payload_.place.to, lent, payload_.bytes);
  endpoint_->release();
  payload_is_here();
  return true;
}

void MessageLane::handle(const Frame& frame) {
  back_ = frame.credit;
  switch (frame.kind) {
    case FrameKind::Eager:
      room_ += eager_cost(frame.bytes);
      if (room_ - given_ > kEagerRoom) {
        broken_ =
            Status(Code::Corrupt,
                   fmt::format("rank {} sent more than there is room for; run the same Weft everywhere", peer_), peer_);
        return;
      }
      payload_ = {.bytes = frame.bytes, .place = sink_.eager(peer_, frame.tag, frame.bytes)};
      if (frame.bytes > kInlineBytes) {
        payload_.awaited = true;
      } else {
        if (frame.bytes > 0) std::memcpy(payload_.place.to, frame.payload, frame.bytes);
        payload_is_here();
      }
      break;
    case FrameKind::Announce:
      sink_.announced(peer_, frame.tag, frame.bytes, frame.id);
      break;
    case FrameKind::Accept: {
      const auto found = std::find_if(announced_.begin(), announced_.end(),
                                      [&](const MessageRequest* send) { return send->id == frame.id; });
      if (found == announced_.end()) break;  // withdrawn; the peer has yet to read that
      accepted_.push_back(*found);
      announced_.erase(found);
      break;
    }
    case FrameKind::Slice:
      slice_begins(frame);
      break;
    case FrameKind::Withdraw: {
      const auto found = std::find_if(receiving_.begin(), receiving_.end(),
                                      [&](const Receiving& receiving) { return receiving.id == frame.id; });
      if (found == receiving_.end()) {
        sink_.withdrawn(peer_, frame.id);
      } else {
        MessageRequest& receive = *found->receive;
        receiving_.erase(found);
        sink_.receive_again(receive);
      }
      break;
    }
    case FrameKind::Credit:
      break;
  }
}

void MessageLane::slice_begins(const Frame& frame) {
  const auto found = std::find_if(receiving_.begin(), receiving_.end(),
                                  [&](const Receiving& receiving) { return receiving.id == frame.id; });
  if (found == receiving_.end() || frame.bytes > found->receive->total - found->receive->moved) {
    broken_ =
        Status(Code::Corrupt, fmt::format("rank {} sent a part of a message that was not asked for", peer_), peer_);
    return;
  }
  MessageRequest& receive = *found->receive;
  payload_ = {.awaited = frame.bytes > 0,
              .slice = true,
              .bytes = frame.bytes,
              .place = {.to = receive.to + receive.moved, .receive = &receive}};
  if (frame.bytes == 0) payload_is_here();
}

void MessageLane::payload_is_here() {
  payload_.awaited = false;
  if (!payload_.slice) {
    finished_one_ = payload_.place.receive != nullptr;
    sink_.eager_is_here(peer_, payload_.place, payload_.bytes);
    return;
  }
  MessageRequest& receive = *payload_.place.receive;
  receive.moved += payload_.bytes;
  if (receive.moved < receive.total) return;
  std::erase_if(receiving_, [&](const Receiving& receiving) { return receiving.receive == &receive; });
  finished_one_ = true;
  sink_.done(receive);
}

}  // namespace weft::comm
