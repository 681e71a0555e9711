// Matching, from both sides: a receive looks for its message, a message for its receive.
#include "comm/messages/messages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/copy_bytes.hpp"
#include "base/deadline.hpp"

namespace weft::comm {

void Messages::add_lane(int peer, std::unique_ptr<transports::Endpoint> endpoint, std::size_t slice) {
  WEFT_ASSERT(!has_lane(peer) && peer != rank_);
  auto& lane = lanes_[static_cast<std::size_t>(peer)];
  MessageSink& sink = *this;
  lane = std::make_unique<MessageLane>(std::move(endpoint), peer, slice, sink);
  open_.push_back(lane.get());
}

void Messages::start(MessageRequest& request) {
  request.order = ++orders_;
  ++running_;
  if (!request.is_send()) return start_receive(request);
  if (request.message.peer == rank_) return start_here(request);
  lane(request.message.peer).send(request);
}

// ---- a receive looks for its message ----

void Messages::start_receive(MessageRequest& receive) {
  Arrival* const arrival = mailbox_.find(receive);
  if (arrival == nullptr) return mailbox_.post(receive);
  Status fits = begin_receive(receive, arrival->source, arrival->tag, arrival->bytes);
  if (!fits.ok()) return fail(receive, std::move(fits));
  take(*arrival, receive);
}

void Messages::receive_again(MessageRequest& receive) {
  count_taken(receive.received.source, -1);
  receive.received = {};
  receive.late = false;
  start_receive(receive);
}

void Messages::take(Arrival& arrival, MessageRequest& receive) {
  count_taken(arrival.source, 1);
  if (arrival.announced) {
    lane(arrival.source).accept(receive, arrival.id);
  } else if (!arrival.whole) {
    arrival.taker = &receive;
    return;
  } else {
    const std::byte* const from = arrival.local != nullptr ? arrival.local->from() : arrival.data.get();
    if (arrival.bytes > 0) base::copy_bytes(receive.to, from, arrival.bytes);
    if (arrival.local != nullptr) {
      done(*arrival.local);
    } else if (arrival.source == rank_) {
      here_used_ -= eager_cost(arrival.bytes);
    } else {
      lane(arrival.source).give_room(arrival.bytes);
    }
    done(receive);
  }
  mailbox_.drop(arrival);
}

// ---- a message looks for its receive ----

// The first receive that takes the message. Those before it whose buffer it does not fit fail, and the message is the
// next one's.
MessageRequest* Messages::receive_for(int source, int tag, std::uint64_t bytes) {
  while (MessageRequest* const receive = mailbox_.find(source, tag)) {
    mailbox_.remove(*receive);
    Status fits = begin_receive(*receive, source, tag, bytes);
    if (fits.ok()) {
      count_taken(source, 1);
      return receive;
    }
    fail(*receive, std::move(fits));
  }
  return nullptr;
}

MessageSink::Place Messages::eager(int source, int tag, std::uint64_t bytes) {
  if (MessageRequest* const receive = receive_for(source, tag, bytes)) return {.to = receive->to, .receive = receive};
  Arrival& arrival = mailbox_.keep({.source = source, .tag = tag, .bytes = bytes, .whole = false});
  arrival.data = std::make_unique_for_overwrite<std::byte[]>(bytes);
  return {.to = arrival.data.get(), .arrival = &arrival};
}

void Messages::eager_is_here(int source, const Place& place, std::uint64_t bytes) {
  if (place.receive != nullptr) {
    lane(source).give_room(bytes);
    done(*place.receive);
    return;
  }
  Arrival& arrival = *place.arrival;
  arrival.whole = true;
  if (arrival.taker == nullptr) return;
  count_taken(source, -1);  // take() counts it
  take(arrival, *arrival.taker);
}

void Messages::announced(int source, int tag, std::uint64_t bytes, std::uint32_t id) {
  if (MessageRequest* const receive = receive_for(source, tag, bytes)) {
    lane(source).accept(*receive, id);
  } else {
    mailbox_.keep({.source = source, .tag = tag, .bytes = bytes, .announced = true, .id = id});
  }
}

void Messages::withdrawn(int source, std::uint32_t id) {
  if (const Arrival* const arrival = mailbox_.announced(source, id)) mailbox_.drop(*arrival);
}

// ---- this rank's messages to itself ----

// A receive that the message does not fit fails, and the message waits for the next.
bool Messages::can_send_here(const Message& message, std::uint64_t bytes) {
  return mailbox_.finds_room(rank_, message.tag, bytes) ||
         (bytes <= kEagerBytes && here_used_ + eager_cost(bytes) <= kEagerRoom);
}

void Messages::start_here(MessageRequest& send) {
  ++sent_here_;
  const int tag = send.message.tag;
  if (MessageRequest* const receive = receive_for(rank_, tag, send.bytes)) {
    if (send.bytes > 0) base::copy_bytes(receive->to, send.from(), send.bytes);
    done(*receive);
    return done(send);
  }
  Arrival& arrival = mailbox_.keep({.source = rank_, .tag = tag, .bytes = send.bytes});
  if (!can_send_here(send.message, send.bytes)) {
    arrival.local = &send;
    return;
  }
  here_used_ += eager_cost(send.bytes);
  arrival.data = std::make_unique_for_overwrite<std::byte[]>(send.bytes);
  if (send.bytes > 0) base::copy_bytes(arrival.data.get(), send.from(), send.bytes);
  done(send);
}

// ---- ends ----

void Messages::done(MessageRequest& request) {
  *request.left = 0;
  --running_;
  ++movements_;
}

void Messages::fail(MessageRequest& request, Status outcome) {
  request.outcome = std::move(outcome);
  done(request);
}

bool Messages::withdraw_if_late(MessageRequest& request) {
  if (*request.left == 0 || request.late || !request.deadline->passed()) return false;
  Status outcome(Code::Timeout,
                 fmt::format("{}: nothing matched within {} ms, and it is withdrawn", comm::describe(request),
                             request.message.timeout_ms),
                 request.message.peer);
  request.late = true;  // what has begun to move is not asked about again
  return withdraw(request, std::move(outcome));
}

bool Messages::withdraw(MessageRequest& request, Status outcome) {
  if (!request.is_send()) {
    if (!mailbox_.remove(request)) return false;
  } else if (request.message.peer == rank_) {
    const Arrival* const arrival = mailbox_.sent_here(request);
    WEFT_ASSERT(arrival != nullptr);
    mailbox_.drop(*arrival);
    --sent_here_;
  } else if (!lane(request.message.peer).withdraw(request)) {
    return false;
  }
  fail(request, std::move(outcome));
  return true;
}

bool Messages::advance() {
  const std::size_t lanes = open_.size();
  if (lanes == 0) return false;
  bool moved = false;
  turn_ = turn_ + 1 < lanes ? turn_ + 1 : 0;
  for (std::size_t i = 0; i < lanes; ++i) {
    const std::size_t index = turn_ + i < lanes ? turn_ + i : turn_ + i - lanes;
    moved = open_[index]->advance() || moved;
  }
  if (moved) ++movements_;
  return moved;
}

std::vector<int> Messages::awaited(const MessageRequest& request) const {
  int peer = request.message.peer;
  if (peer == kAnySource) peer = request.received.source;  // once it has a message
  std::vector<int> peers;
  for (const MessageLane* const lane : open_)
    if (peer == kAnySource || peer == lane->peer()) peers.push_back(lane->peer());
  return peers;
}

void Messages::count_taken(int source, std::int64_t messages) {
  std::uint64_t& taken = source == rank_ ? taken_here_ : lane(source).taken;
  taken += static_cast<std::uint64_t>(messages);
}

std::uint64_t Messages::sent_to(int peer) const {
  if (peer == rank_) return sent_here_;
  return has_lane(peer) ? lanes_[static_cast<std::size_t>(peer)]->sent : 0;
}

std::uint64_t Messages::taken_from(int peer) const {
  if (peer == rank_) return taken_here_;
  return has_lane(peer) ? lanes_[static_cast<std::size_t>(peer)]->taken : 0;
}

int Messages::lanes() const {
  return static_cast<int>(std::ranges::count_if(lanes_, [](const auto& lane) { return lane != nullptr; }));
}

std::uint64_t Messages::lane_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& lane : lanes_)
    if (lane != nullptr) bytes += sizeof(MessageLane) + lane->endpoint().memory_bytes();
  return bytes;
}

void Messages::cancel(int deadline_ms) {
  const auto deadline = base::Deadline::after_ms(deadline_ms);
  for (MessageLane* const lane : open_) lane->endpoint().cancel(deadline.remaining_ms());
  open_.clear();
  mailbox_.clear();
  running_ = 0;
}

}  // namespace weft::comm
