// Patience: how a thread waits when nothing moves: it spins, then yields, then naps; and every so often it is time to
// look around.
#pragma once

#include <sched.h>
#include <time.h>

#include <chrono>
#include <cstdint>

namespace weft::comm {

// Tells the core that this is a spin loop.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class Patience final {
 public:
  // With more ranks than cores, spinning only keeps the peer from running.
  explicit Patience(bool oversubscribed) : spins_(oversubscribed ? kSpinsShared : kSpins) {}

  // Something moved: the wait begins anew.
  void reset() {
    rounds_ = 0;
    started_ = false;
    idle_ms_ = 0;
  }

  // Nothing moved. True about every kLookMs, and then idle_ms() is how long nothing has.
  bool pause() {
    ++rounds_;
    if (rounds_ < spins_) {
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

  static constexpr std::uint32_t kSpins = 4000;  // about 100 us
  static constexpr std::uint32_t kSpinsShared = 4;
  static constexpr std::uint32_t kRoundsPerClock = 16;
  static constexpr double kLookMs = 2;
  static constexpr double kNapAfterMs = 50;

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
    if (std::chrono::duration<double, std::milli>(now - last_look_).count() < kLookMs) return false;
    last_look_ = now;
    return true;
  }

  std::uint32_t spins_;
  std::uint32_t rounds_ = 0;
  bool started_ = false;
  double idle_ms_ = 0;
  Clock::time_point since_;
  Clock::time_point last_look_;
  Clock::time_point rested_;
};

}  // namespace weft::comm
