// Progress: the optional helper thread of a root communicator. It drives operations in flight while their owner
// computes, and sleeps when there are none.
//
// One owner drives an engine at a time: with the helper on, whoever touches an engine holds the lock. With it off there
// is no lock.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "weft/status.hpp"

namespace weft::comm {

class Progress final {
 public:
  // Something the helper can drive: a communicator. All but tell() are called under the guard.
  class Driven {
   public:
    virtual ~Driven() = default;
    virtual bool drive() = 0;  // one round; true if anything moved
    virtual bool in_flight() const = 0;
    // After a round in which nothing moved. True: something is wrong, to be told of by tell().
    virtual bool tend() = 0;
    virtual void tell() = 0;  // without the guard: may wait for about a second
  };

  // With the thread, if enabled. ResourceExhausted if the system gives none.
  static Result<std::unique_ptr<Progress>> start(bool enabled);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  using Guard = std::unique_lock<std::mutex>;
  Guard guard() { return enabled_ ? Guard(mutex_) : Guard(); }
  bool enabled() const { return enabled_; }

  // Under the guard.
  void add(Driven& driven) { driven_.push_back(&driven); }
  // Waits until the helper has told of what is wrong there; `held` is the guard.
  void remove(Driven& driven, Guard& held);
  void wake() {
    if (enabled_) wakeup_.notify_one();
  }

 private:
  explicit Progress(bool enabled) : enabled_(enabled) {}
  void run();
  void tell();
  bool any_in_flight() const;

  bool enabled_;
  bool stopping_ = false;
  std::mutex mutex_;
  std::condition_variable wakeup_;
  std::vector<Driven*> driven_;
  Driven* telling_ = nullptr;  // the helper is in its tell(), or on the way there
  std::condition_variable told_;
  std::thread thread_;
};

}  // namespace weft::comm
