// Inbox: the notices that one rank received, in order, and its listener.
//
// Whoever brings a notice also runs the listener, unless another thread is doing so already: then that thread takes it
// along. So a listener is never entered twice, and one that sends (to itself, or in a circle) neither recurses nor
// blocks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "transports/store/store.hpp"

namespace weft::transports {

class Inbox {
 public:
  struct Notice {
    int rank = -1;
    bool death = false;
    std::string message;  // empty for a death
  };
  // What may wait for a listener; beyond it nobody is listening.
  static constexpr std::size_t kMaxWaitingBytes = std::size_t{64} << 20;
  static constexpr std::size_t kMaxWaitingNotices = 1 << 20;

  // Runs nothing, so it may be called under a lock; deliver() must follow without it. False: full, the notice was not
  // taken.
  bool push(Notice notice);
  void deliver();

  // As Store::listen. Called by the listener itself, it takes effect when that call returns.
  void listen(Store::Listener listener);

 private:
  void call(const Notice& notice) const;

  std::mutex mutex_;
  std::condition_variable idle_;
  std::deque<Notice> waiting_;
  std::size_t waiting_bytes_ = 0;
  Store::Listener listener_;  // not touched by others while delivering_
  std::optional<Store::Listener> replacement_;
  bool delivering_ = false;
  std::thread::id deliverer_;
  int changing_ = 0;  // threads in listen() that wait for the deliverer to pause
};

}  // namespace weft::transports
