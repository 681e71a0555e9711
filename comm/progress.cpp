// The helper thread: rounds while something moves, naps while nothing does, sleep while nothing is in flight.
#include "comm/progress.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>

#include "base/control_thread.hpp"

namespace weft::comm {

Result<std::unique_ptr<Progress>> Progress::start(bool enabled) {
  std::unique_ptr<Progress> progress(new Progress(enabled));
  if (enabled) {
    Progress* const self = progress.get();
    WEFT_TRY_ASSIGN(progress->thread_, base::start_control_thread("weft-progress", [self] { self->run(); }));
  }
  return progress;
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wakeup_.notify_one();
  thread_.join();
}

void Progress::remove(Driven& driven, Guard& held) {
  if (held.owns_lock()) told_.wait(held, [&] { return telling_ != &driven; });  // as long as tell() may take
  driven_.erase(std::remove(driven_.begin(), driven_.end(), &driven), driven_.end());
}

bool Progress::any_in_flight() const {
  return std::any_of(driven_.begin(), driven_.end(), [](const Driven* driven) { return driven->in_flight(); });
}

void Progress::run() {
  // Rounds without movement before the helper naps between rounds: it must not take a core from those that compute.
  constexpr int kEagerRounds = 64;
  std::unique_lock lock(mutex_);
  int idle = 0;
  while (!stopping_) {
    if (!any_in_flight()) {
      wakeup_.wait(lock, [this] { return stopping_ || any_in_flight(); });
      idle = 0;
      continue;
    }
    bool moved = false;
    for (Driven* driven : driven_) {
      if (!driven->in_flight()) continue;
      if (driven->drive()) {
        moved = true;
      } else if (telling_ == nullptr && driven->tend()) {
        telling_ = driven;
      }
    }
    idle = moved ? 0 : idle + 1;
    lock.unlock();
    tell();
    if (idle < kEagerRounds) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    lock.lock();
  }
}

// By the helper thread, without the guard. Of others that something is wrong with it hears in later rounds.
void Progress::tell() {
  if (telling_ == nullptr) return;
  telling_->tell();
  {
    const std::lock_guard lock(mutex_);
    telling_ = nullptr;
  }
  told_.notify_all();
}

}  // namespace weft::comm
