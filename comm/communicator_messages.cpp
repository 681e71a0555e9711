// A communicator's messages: checked, given a lane, started, waited for; and what a wait for one finds out.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/deadline.hpp"
#include "base/limits.hpp"
#include "comm/communicator_state.hpp"
#include "comm/thread_work.hpp"
#include "weft/operator.hpp"

namespace weft::comm {
namespace {

// Of the lanes of a communicator, the one that no channel has.
constexpr int kMessageLane = 255;
static_assert(base::kMaxChannels <= kMessageLane);

// How long close() looks for a message that was counted, to tell its tag.
constexpr int kLeftOverMs = 200;

std::string_view name_of(const Message& message) { return message.direction == Direction::Send ? "send" : "receive"; }

}  // namespace

std::string CommunicatorState::describe_slot(const Slot& slot) {
  return slot.is_message ? comm::describe(slot.message) : comm::describe(slot.record);
}

// ---- start ----

Status CommunicatorState::check_message(const Message& message) const {
  const auto bad = [&](std::string text) {
    return Status(Code::InvalidArgument, fmt::format("{}: {}", name_of(message), text));
  };
  const bool sends = message.direction == Direction::Send;
  if (static_cast<unsigned>(message.direction) > 1)
    return Status(Code::InvalidArgument, "no such direction of a message");
  if (static_cast<unsigned>(message.dtype) >= kDataTypes && !is_opaque(message.dtype)) return bad("no such data type");
  const bool any_source = message.peer == kAnySource && !sends;
  if (!any_source && (message.peer < 0 || message.peer >= size()))
    return bad(fmt::format("peer {} is not a rank of this communicator of {}", message.peer, size()));
  if (message.tag < 0 && (sends || message.tag != kAnyTag))
    return bad(fmt::format("tag is {}; give 0 or more{}", message.tag, sends ? "" : ", or kAnyTag"));
  if (message.timeout_ms < 0 && message.timeout_ms != kUntilDeadline)
    return bad(fmt::format("timeout_ms is {}; give 0 or more, or kUntilDeadline", message.timeout_ms));
  const std::uint64_t limit = kMaxMessageBytes / size_of(message.dtype);
  if (message.count > limit)
    return bad(fmt::format("count {} is more than the {} elements of the longest message", message.count, limit));
  if (message.count > 0 && (sends ? message.in == nullptr : message.out == nullptr))
    return bad(fmt::format("the buffer is null but has {} elements", message.count));
  return {};
}

Status CommunicatorState::open_message_lanes(const Message& message) {
  const auto setup = runtime_->setup();
  if (message.peer != kAnySource) return open_message_lane(message.peer);
  // Where any rank would do, one that is left is enough.
  Status gone;
  bool some = false;
  for (int peer = 0; peer < size(); ++peer) {
    if (peer == rank()) continue;
    Status opened = open_message_lane(peer);
    if (!opened.ok() && opened.code() != Code::PeerLost) return opened;
    some = some || opened.ok();
    if (!opened.ok()) gone = std::move(opened);
  }
  return some ? Status() : gone;
}

// During set-up.
Status CommunicatorState::open_message_lane(int peer) {
  if (peer == rank() || messages_->has_lane(peer)) return {};
  WEFT_TRY_ASSIGN(OpenedLane opened, open_lane(peer, kMessageLane));
  messages_->add_lane(peer, std::move(opened.endpoint), opened.slice);
  return {};
}

// The message was checked.
Status CommunicatorState::begin(const Message& message, std::vector<std::byte>* object, Slot** started) {
  if (waits_.load(std::memory_order_relaxed)) return busy();
  if (member_.faults.raised()) {
    give_up();
    return member_.faults.status();
  }
  if (messages_ == nullptr) messages_ = std::make_unique<Messages>(rank(), size());
  if (const Status opened = open_message_lanes(message); !opened.ok()) {
    // The peer knows nothing of a message that never comes.
    runtime_->control().fail(member_, opened);
    return opened;
  }
  Slot& slot = take_slot();
  slot.is_message = true;
  slot.record = {};  // of no call
  slot.message = MessageRequest();
  slot.message.message = message;
  slot.message.bytes = message.count * size_of(message.dtype);
  slot.message.left = &slot.operation.channels_left;
  slot.message.object = object;
  if (message.timeout_ms != kUntilDeadline) slot.message.deadline = base::Deadline::after_ms(message.timeout_ms);
  slot.operation.channels_left = 1;
  const std::int32_t others = running();
  messages_->start(slot.message);
  // It may have ended at once, or another by it.
  if (event_ && running() <= others) announce();
  *started = &slot;
  return {};
}

Result<Received> CommunicatorState::run(const Message& message, std::vector<std::byte>* object) {
  WEFT_TRY(health());
  if (waits_.load(std::memory_order_relaxed)) return busy();
  WEFT_TRY(check_message(message));
  auto guard = runtime_->progress().guard();
  if (messages_ == nullptr) messages_ = std::make_unique<Messages>(rank(), size());
  const std::uint64_t bytes = message.count * size_of(message.dtype);
  if (message.direction == Direction::Send && message.peer == rank() && !messages_->can_send_here(message, bytes)) {
    return Status(
        Code::InvalidArgument,
        fmt::format("send: rank {} would wait for itself to receive {} bytes; start the receive first", rank(), bytes),
        rank());
  }
  Slot* slot = nullptr;
  WEFT_TRY(begin(message, object, &slot));
  Received received;
  for (EagerRounds rounds(crowding_); slot->operation.channels_left > 0 && rounds.next();) {
    runtime_->poll();
    advance();
  }
  if (slot->operation.channels_left == 0) {
    WEFT_TRY(finish(*slot, &received));
    return received;
  }
  if (guard.owns_lock()) guard.unlock();
  WEFT_TRY(wait(*slot, &received));
  return received;
}

Status CommunicatorState::start(const Message& message, std::uint32_t* ticket) {
  WEFT_TRY(health());
  WEFT_TRY(check_message(message));
  const auto guard = runtime_->progress().guard();
  Slot* slot = nullptr;
  WEFT_TRY(begin(message, nullptr, &slot));
  *ticket = slot->ticket;
  runtime_->poll();
  advance();
  if (slot->operation.channels_left == 0) return {};
  slot->thread = this_thread_work();
  enter_thread_work(this, alive_);
  runtime_->progress().wake();
  return {};
}

Status CommunicatorState::run(std::span<const Message> messages, std::span<Received> received) {
  WEFT_TRY(health());
  if (!received.empty() && received.size() != messages.size()) {
    return Status(Code::InvalidArgument,
                  fmt::format("there are {} places for what {} messages receive; give as many, or none",
                              received.size(), messages.size()));
  }
  for (const Message& message : messages) WEFT_TRY(check_message(message));
  std::vector<std::uint32_t> tickets;
  tickets.reserve(messages.size());
  Status first;
  for (const Message& message : messages) {
    std::uint32_t ticket = 0;
    Status started = start(message, &ticket);
    if (started.ok()) tickets.push_back(ticket);
    if (first.ok()) first = std::move(started);
    if (!first.ok()) break;
  }
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    Status outcome = wait(tickets[i], received.empty() ? nullptr : &received[i]);
    if (first.ok()) first = std::move(outcome);
  }
  return first;
}

// ---- waiting ----

void CommunicatorState::withdraw_if_late(Slot& slot) {
  if (messages_->withdraw_if_late(slot.message) && event_) announce();
}

// "receive of up to 100 float32 from rank 2, tag 7: rank 3 waited 30 s for rank 2 over shm; rank 2 last reported
// barrier #41"
std::string CommunicatorState::where(const Slot& slot, int peer, double idle_ms) const {
  std::string text = fmt::format("{}: rank {} waited {:.3g} s", comm::describe(slot.message), rank(), idle_ms / 1000);
  if (peer < 0 || peer == rank()) return text;
  text += fmt::format(" for rank {} over {}", peer, transport(peer));
  const auto last = member_.reported(peer);
  return text + (last ? fmt::format("; rank {} last reported {}", peer, comm::describe(*last))
                      : fmt::format("; rank {} has reported no collective call", peer));
}

Status CommunicatorState::look_at_message(const Slot& slot, double idle_ms, Idle& idle) {
  const std::vector<int> peers = messages_->awaited(slot.message);
  const bool ask = idle.asks(idle_ms);
  std::size_t gone = 0;
  Status last;
  for (const int peer : peers) {
    if (ask) runtime_->control().ask(member_, peer);
    WEFT_TRY(messages_->lane(peer).broken());
    Status lost = look_at_peer(slot, peer, idle_ms, idle);
    if (member_.faults.raised() || slot.operation.channels_left == 0) return {};
    if (lost.ok()) continue;
    ++gone;
    last = std::move(lost);
  }
  // Where any rank would do, one that is left is enough.
  if (gone > 0 && gone == peers.size()) return last;
  if (ask) idle.asked(idle_ms);
  if (idle_ms <= runtime_->options().timeout_ms) return {};
  const int peer = peers.size() == 1 ? peers.front() : -1;
  return Status(Code::Timeout, where(slot, peer, idle_ms) + ". Set WEFT_TIMEOUT to wait longer", peer);
}

// Whether the peer can still do its part.
Status CommunicatorState::look_at_peer(const Slot& slot, int peer, double idle_ms, Idle& idle) {
  transports::Endpoint& endpoint = messages_->lane(peer).endpoint();
  const Status failure = endpoint.failure();
  if (failure.code() == Code::Aborted) {
    return Status(Code::PeerLost, fmt::format("rank {} cannot use its lanes any more: {}", rank(), failure.message()),
                  rank());
  }
  if (transports::Unexpected found; idle_ms >= kGraceMs && endpoint.unexpected(&found)) {
    return Status(
        Code::Corrupt,
        fmt::format("rank {} sent {} bytes where a message begins that are no header of one; run the same Weft "
                    "everywhere",
                    peer, found.bytes),
        peer);
  }
  if (failure.ok() && !member_.has_left(peer)) return {};
  // The store names the dead by itself, and what came before the end is still taken.
  if (!end_is_old(idle_ms, idle) || drive()) return {};
  if (!failure.ok())
    return Status(failure.code(), fmt::format("{}: {}", where(slot, peer, idle_ms), failure.message()), peer);
  return Status(Code::PeerLost,
                fmt::format("{}, but rank {} has destroyed its communicator", where(slot, peer, idle_ms), peer), peer);
}

// ---- close ----

// Collective, if any rank has messages: each tells each how many it sent it.
Status CommunicatorState::check_messages_taken() {
  const auto ranks = static_cast<std::size_t>(size());
  std::vector<std::uint64_t> sent(ranks), to_me(ranks);
  if (messages_ != nullptr) {
    for (std::size_t peer = 0; peer < ranks; ++peer) sent[peer] = messages_->sent_to(static_cast<int>(peer));
  }
  WEFT_TRY(run(all_to_all(sent.data(), to_me.data(), 1, DataType::UInt64)));
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    const std::uint64_t taken = messages_ == nullptr ? 0 : messages_->taken_from(static_cast<int>(peer));
    if (to_me[peer] == taken) continue;
    runtime_->control().fail(member_, left_over(static_cast<int>(peer), to_me[peer] - taken));
    return member_.faults.status();
  }
  return {};
}

Status CommunicatorState::left_over(int peer, std::uint64_t messages) {
  std::string text = fmt::format("rank {} sent rank {} {} that rank {} never received", peer, rank(),
                                 messages == 1 ? "a message" : fmt::format("{} messages", messages), rank());
  const auto deadline = base::Deadline::after_ms(kLeftOverMs);
  const Arrival* found = nullptr;
  while (messages_ != nullptr && found == nullptr && !deadline.passed()) {
    drive_guarded();
    found = messages_->left_over(peer);
  }
  if (found != nullptr)
    text += fmt::format(": {}tag {}, {} bytes", messages == 1 ? "" : "the first has ", found->tag, found->bytes);
  return Status(Code::Mismatch, std::move(text), peer);
}

}  // namespace weft::comm
