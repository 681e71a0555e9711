// HeldSignals: while it lives, a signal that would end the process waits, so that what must be removed is removed
// first. Whoever works meanwhile asks now and then whether one waits, and hurries home.
#pragma once

#include <csignal>

namespace weft::base {

class HeldSignals {
 public:
  // Holds SIGHUP, SIGINT, SIGQUIT and SIGTERM where nobody handles or ignores them. This thread only: in a process with
  // others one of them may take the signal.
  HeldSignals();
  // What came meanwhile acts now. In the thread that made it.
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  bool any_waits() const;

 private:
  sigset_t held_;
};

}  // namespace weft::base
