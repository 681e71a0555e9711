// Faults: the first error of a communicator. Raised by anyone (the calling thread, the control thread, abort()), seen
// by every wait.
#pragma once

#include <atomic>
#include <mutex>

#include "weft/status.hpp"

namespace weft::comm {

class Faults final {
 public:
  // Any thread. True if this was the first; later errors are dropped.
  bool raise(Status status) {
    const std::lock_guard lock(mutex_);
    if (!first_.ok() || status.ok()) return false;
    first_ = std::move(status);
    raised_.store(true, std::memory_order_release);  // pairs with the acquire in raised()
    return true;
  }
  bool raised() const { return raised_.load(std::memory_order_acquire); }
  // Every call asks: no lock while all is well.
  Status status() const {
    if (!raised()) return {};
    const std::lock_guard lock(mutex_);
    return first_;
  }

 private:
  mutable std::mutex mutex_;
  Status first_;
  std::atomic<bool> raised_{false};
};

}  // namespace weft::comm
