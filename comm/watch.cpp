// What a wait does when nothing has moved for a while: find out who is late, who is dead, and whether the calls match
// at all.
#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "comm/communicator_state.hpp"

namespace weft::comm {
namespace {

// Contradicting calls are found by asking the peers that this rank waits for. They are asked early, because an error
// within 100 ms is promised, then ever more rarely, because a long wait is usually a slow rank.
constexpr double kFirstAskMs = 2;
constexpr double kAskGrowth = 2;
constexpr double kLongestAskMs = 1000;
// The farewell of a peer goes another way than its last messages and may overtake them.
constexpr double kEndGraceMs = 1000;

}  // namespace

bool CommunicatorState::Idle::asks(double idle_ms) const { return idle_ms >= kFirstAskMs && idle_ms >= next_ask_ms; }

void CommunicatorState::Idle::asked(double idle_ms) {
  next_ask_ms = std::min(idle_ms + kLongestAskMs, std::max(idle_ms, kFirstAskMs) * kAskGrowth);
}

// What is wrong with what this wait waits for; OK as long as there is hope. Under the guard.
Status CommunicatorState::look_around(const Slot& slot, double idle_ms, Idle& idle) {
  if (member_.faults.raised()) return {};
  if (slot.is_message) return look_at_message(slot, idle_ms, idle);
  std::vector<Blocked> blocked;
  engine_.blocked(&blocked);
  const bool ask = idle.asks(idle_ms);
  for (const Blocked& entry : blocked) {
    if (entry.peer < 0) continue;
    if (ask) runtime_->control().ask(member_, entry.peer);
    WEFT_TRY(look_at_lane(slot, entry, idle_ms, idle));
    // Looking may have moved things on: the other entries are then stale.
    if (member_.faults.raised() || slot.operation.channels_left == 0) return {};
  }
  if (ask) idle.asked(idle_ms);
  if (idle_ms <= (slot.timeout_ms > 0 ? slot.timeout_ms : runtime_->options().timeout_ms)) return {};
  const Blocked front = blocked.empty() ? Blocked() : blocked.front();
  return Status(Code::Timeout, where(slot, front, idle_ms) + ". Set WEFT_TIMEOUT to wait longer", front.peer);
}

const CallRecord& CommunicatorState::record_of(const ActiveOperation& operation) const {
  const auto slot = std::find_if(slots_.begin(), slots_.end(),
                                 [&](const auto& candidate) { return &candidate->operation == &operation; });
  WEFT_ASSERT(slot != slots_.end());
  return (*slot)->record;
}

Status CommunicatorState::look_at_lane(const Slot& slot, const Blocked& blocked, double idle_ms, Idle& idle) {
  transports::Endpoint& endpoint = engine_.lane(blocked.lane).endpoint();
  if (const Status failure = endpoint.failure(); !failure.ok()) {
    // This end is dead or was cancelled: it is this rank that is lost to the others.
    if (failure.code() == Code::Aborted) {
      return Status(Code::PeerLost, fmt::format("rank {} cannot use its lanes any more: {}", rank(), failure.message()),
                    rank());
    }
    // The store names the dead by itself, and in better words: give it a moment. What came before the end is still
    // taken.
    if (!end_is_old(idle_ms, idle) || drive()) return {};
    return Status(failure.code(), fmt::format("{}: {}", where(slot, blocked, idle_ms), failure.message()),
                  blocked.peer);
  }
  if (idle_ms < kGraceMs) return {};
  transports::Unexpected found;
  if (endpoint.unexpected(&found)) {
    // Of the operation that the lane is used for, which may be an earlier one than what is waited for.
    if (found.signature == blocked.operation->signature) {
      return Status(Code::Mismatch,
                    fmt::format("rank {} called {}, and rank {} sent it {} bytes where it expects more or fewer; the "
                                "counts of sender and receiver must agree",
                                rank(), describe(record_of(*blocked.operation)), blocked.peer, found.bytes),
                    blocked.peer);
    }
    const CallRecord theirs{found.signature.sequence, found.signature.call, 0, 0, found.signature.hash};
    return Status(
        Code::Mismatch,
        fmt::format("rank {} called {}, but a message of {} bytes from rank {}'s {} is in the way; all ranks must make "
                    "the same calls in the same order",
                    rank(), describe(slot.record), found.bytes, blocked.peer, describe_kind(theirs)),
        blocked.peer);
  }
  if (member_.has_left(blocked.peer) && !blocked.sending && end_is_old(idle_ms, idle) && !drive()) {
    const auto last = member_.reported(blocked.peer);
    return Status(Code::PeerLost,
                  fmt::format("{}, but rank {} has destroyed its communicator after {}", where(slot, blocked, idle_ms),
                              blocked.peer, last ? describe(*last) : "no call at all"),
                  blocked.peer);
  }
  return {};
}

// A lane's end was seen a while ago, counted from when this wait first saw one.
bool CommunicatorState::end_is_old(double idle_ms, Idle& idle) {
  if (idle.end_seen_ms < 0) idle.end_seen_ms = idle_ms;
  return idle_ms - idle.end_seen_ms >= kEndGraceMs;
}

// "all_reduce #42 of 100 float32, sum (ring, step 5/14): rank 3 waited 30 s for rank 2 over shm; rank 2 last reported
// all_reduce #41"
std::string CommunicatorState::where(const Slot& slot, const Blocked& blocked, double idle_ms) const {
  const std::string call = fmt::format("{} ({}, step {}/{})", describe(slot.record),
                                       slot.operation.plan->choice.winner().algorithm, blocked.step + 1, blocked.steps);
  if (blocked.peer < 0) return fmt::format("{}: rank {} waited {:.3g} s", call, rank(), idle_ms / 1000);
  std::string text = fmt::format("{}: rank {} waited {:.3g} s for rank {} over {}", call, rank(), idle_ms / 1000,
                                 blocked.peer, transport(blocked.peer));
  const auto last = member_.reported(blocked.peer);
  text += last ? fmt::format("; rank {} last reported {}", blocked.peer, describe(*last))
               : fmt::format("; rank {} has reported no call", blocked.peer);
  return text;
}

}  // namespace weft::comm
