// Patience: how a thread waits when nothing moves: it spins, then yields, then naps; and every so often it is time to
// look around.
#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>

namespace weft::comm {

// Tells the core that this is a spin loop.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Whether others want to run on this core: then spinning only keeps them from it, and with them perhaps the peer that
// is waited for. With more ranks than cores that is known. Otherwise the kernel tells how often it took the core from
// the thread, also when the thread yielded: so programs beside this one, ranks of other emulated hosts and helper
// threads count, too. Any thread.
class Crowding final {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Crowding(bool oversubscribed) : known_(oversubscribed) {}

  bool crowded() const { return known_ || crowded_.load(std::memory_order_relaxed); }
  // Now and then while a thread waits; a system call every kWindow at most.
  void look(Clock::time_point now) {
    if (known_ || now.time_since_epoch() < next_.load(std::memory_order_relaxed)) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    learn(std::this_thread::get_id(), now, usage.ru_nivcsw);
    next_.store((now + kWindow).time_since_epoch(), std::memory_order_relaxed);
  }
  // That so often in all the core was taken from a thread. One at a time.
  void learn(std::thread::id thread, Clock::time_point now, long switches) {
    const long taken = switches - switches_;
    if (thread == thread_) crowded_.store(taken >= kTimes && taken * kEach >= now - since_, std::memory_order_relaxed);
    thread_ = thread;
    since_ = now;
    switches_ = switches;
  }

 private:
  static constexpr std::chrono::milliseconds kWindow{16};
  // Once may be an interrupt. Threads that share a core without ever yielding take turns of some milliseconds.
  static constexpr long kTimes = 2;
  static constexpr std::chrono::milliseconds kEach{10};

  bool known_;
  std::atomic<bool> crowded_ = false;
  std::atomic<Clock::duration> next_ = Clock::duration::min();
  std::mutex mutex_;
  std::thread::id thread_;  // of what was learnt last
  Clock::time_point since_;
  long switches_ = 0;
};

// Rounds that a blocking call tries before it waits by the book: most small operations end within them.
class EagerRounds final {
 public:
  explicit EagerRounds(const Crowding& crowding) : most_(crowding.crowded() ? kMostCrowded : kMost) {}

  // Before each round: whether there is to be one.
  bool next() {
    if (++round_ > most_) return false;
    if (round_ <= kTight) return true;
    relax();
    return round_ % kRoundsPerClock != 0 || in_time();
  }

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr int kMost = 1000;
  static constexpr int kMostCrowded = 2;
  // The first of them in a row: a pause takes as long as a message from the next core.
  static constexpr int kTight = 50;
  // Over a network a round may take microseconds.
  static constexpr std::chrono::microseconds kLongest{50};
  static constexpr int kRoundsPerClock = 64;

  bool in_time() {
    const Clock::time_point now = Clock::now();
    if (round_ == kRoundsPerClock) since_ = now;
    return now - since_ < kLongest;
  }

  int most_;
  int round_ = 0;
  Clock::time_point since_;
};

class Patience final {
 public:
  // `crowding` outlives it.
  explicit Patience(Crowding& crowding) : crowding_(crowding) {}

  // Something moved: the wait begins anew.
  void reset() {
    rounds_ = 0;
    spun_ = started_ = false;
    idle_ms_ = 0;
  }

  // Nothing moved. True about every kLookMs, and then idle_ms() is how long nothing has.
  bool pause() {
    ++rounds_;
    if (spins()) {
      relax();
      return false;
    }
    if (idle_ms_ > kNapAfterMs) {
      nap();
    } else {
      sched_yield();
    }
    if (rounds_ % kRoundsPerClock != 0 && idle_ms_ <= kNapAfterMs) return false;
    return look_at_clock();
  }

  double idle_ms() const { return idle_ms_; }

  // Between these the thread does something else than wait, and that time does not count.
  void rest() { rested_ = Clock::now(); }
  void resume() {
    if (!started_) return;
    const Clock::duration away = Clock::now() - rested_;
    since_ += away;
    last_look_ += away;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::microseconds kSpin{100};
  static constexpr std::uint32_t kSpinsPerClock = 32;
  static constexpr std::uint32_t kSpinsCrowded = 4;
  static constexpr std::uint32_t kRoundsPerClock = 16;
  static constexpr double kLookMs = 2;
  static constexpr double kNapAfterMs = 50;

  // A round between two pauses may take a transport microseconds: so spinning ends by the clock.
  bool spins() {
    if (spun_) return false;
    if (rounds_ < kSpinsCrowded) return true;
    if (crowding_.crowded()) {
      spun_ = true;
    } else if (rounds_ % kSpinsPerClock == 0) {
      const Clock::time_point now = Clock::now();
      if (rounds_ == kSpinsPerClock) spinning_since_ = now;
      spun_ = now - spinning_since_ > kSpin;
      if (spun_) crowding_.look(now);
    }
    return !spun_;
  }

  static void nap() {
    const timespec time{0, 200'000};
    nanosleep(&time, nullptr);
  }

  bool look_at_clock() {
    const Clock::time_point now = Clock::now();
    if (!started_) {
      started_ = true;
      since_ = last_look_ = now;
    }
    idle_ms_ = std::chrono::duration<double, std::milli>(now - since_).count();
    crowding_.look(now);
    if (std::chrono::duration<double, std::milli>(now - last_look_).count() < kLookMs) return false;
    last_look_ = now;
    return true;
  }

  Crowding& crowding_;
  std::uint32_t rounds_ = 0;
  bool spun_ = false;
  bool started_ = false;
  double idle_ms_ = 0;
  Clock::time_point spinning_since_;
  Clock::time_point since_;
  Clock::time_point last_look_;
  Clock::time_point rested_;
};

}  // namespace weft::comm
