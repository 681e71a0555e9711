// Deadline: a point in time on the monotonic clock by which a wait must end. Every wait in Weft has one.
#pragma once

#include <algorithm>
#include <chrono>

namespace weft::base {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline after_ms(int timeout_ms) {
    return Deadline(Clock::now() + std::chrono::milliseconds(std::max(timeout_ms, 0)));
  }

  Clock::time_point time() const { return time_; }
  bool passed() const { return Clock::now() >= time_; }

  // Rounded up, so that poll(remaining_ms()) does not wake a moment too early and spin; 0 once passed.
  int remaining_ms() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(time_ - Clock::now()).count();
    return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left, 0, 1'000'000'000));
  }

  // The nearer of this one and `timeout_ms` from now.
  Deadline at_most_ms(int timeout_ms) const { return Deadline(std::min(time_, after_ms(timeout_ms).time_)); }
  Deadline later_by_ms(int more_ms) const { return Deadline(time_ + std::chrono::milliseconds(more_ms)); }

 private:
  explicit Deadline(Clock::time_point time) : time_(time) {}
  Clock::time_point time_;
};

}  // namespace weft::base
