// What a communicator tells programs that wait in a loop of their own, and refuses to those that call it where they
// must not.
#include <fmt/format.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>

#include "comm/communicator_state.hpp"

namespace weft::comm {
namespace {

constexpr double kLookMs = 2;

}  // namespace

Status CommunicatorState::in_child() const {
  return Status(Code::InvalidArgument,
                "this process is a forked child of the one that made the communicator: it has neither its threads nor "
                "its place among the ranks; make a new communicator here, or call exec()");
}

Status CommunicatorState::busy() const {
  return Status(Code::InvalidArgument,
                "another thread waits in a call of this communicator, which is for one thread at a time; give each "
                "thread a communicator of its own by split()");
}

Status CommunicatorState::health() const {
  if (forked()) return in_child();
  return member_.faults.status();
}

Result<int> CommunicatorState::event_descriptor() {
  if (forked()) return in_child();
  if (!runtime_->progress().enabled()) {
    return Status(Code::Unsupported,
                  "event_descriptor: without a helper thread operations move only while a thread waits or tests; set "
                  "Options::progress_thread (WEFT_PROGRESS_THREAD=1)");
  }
  const auto guard = runtime_->progress().guard();
  if (event_) return event_.get();
  event_ = base::FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event_)
    return Status(Code::ResourceExhausted,
                  fmt::format("event_descriptor: the system gives none: {}", std::strerror(errno)));
  return event_.get();
}

// A full counter is readable already.
void CommunicatorState::announce() { static_cast<void>(::eventfd_write(event_.get(), 1)); }

// A forked child has its parent's descriptor, of which it has nothing to tell.
void CommunicatorState::announce_refusal() {
  if (forked()) return;
  const auto guard = runtime_->progress().guard();
  if (event_) announce();
}

// Under the guard, by the helper thread, when nothing moved.
bool CommunicatorState::tend() {
  if (!event_ || member_.faults.raised()) return false;
  const auto now = std::chrono::steady_clock::now();
  // A call that begins after a pause has not waited during the pause.
  const std::uint64_t seen = movements() + started_;
  const bool moved = seen != tended_.seen;
  if (moved) tended_ = {.seen = seen, .since = now, .next_look_ms = kLookMs, .idle = {}};
  const double idle_ms = std::chrono::duration<double, std::milli>(now - tended_.since).count();
  if (!moved && idle_ms < tended_.next_look_ms) return false;
  for (const auto& slot : slots_)
    if (slot->is_message && slot->message.deadline) withdraw_if_late(*slot);
  if (moved) return false;
  tended_.next_look_ms = idle_ms + kLookMs;
  // The call that was started first ends first, as far as calls do wait for each other. Messages wait for none.
  for (const bool message : {false, true}) {
    const Slot* const first = oldest(message);
    if (first == nullptr) continue;
    complaint_ = {look_around(*first, idle_ms, tended_.idle[message ? 1 : 0]), first->record.sequence};
    if (!complaint_.wrong.ok()) return true;
  }
  return false;
}

// Outside the guard: finding out whom to blame takes a while.
void CommunicatorState::tell() { runtime_->control().fail(member_, complaint_.wrong, complaint_.sequence); }

const CommunicatorState::Slot* CommunicatorState::oldest(bool message) const {
  const auto order = [&](const Slot& slot) { return message ? slot.message.order : slot.record.sequence; };
  const Slot* first = nullptr;
  for (const auto& slot : slots_) {
    if (slot->operation.channels_left == 0 || slot->is_message != message) continue;
    if (first == nullptr || order(*slot) < order(*first)) first = slot.get();
  }
  return first;
}

}  // namespace weft::comm
