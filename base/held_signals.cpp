// Signals are held by this thread's mask.
#include "base/held_signals.hpp"

namespace weft::base {
namespace {

constexpr int kEnding[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

// One that is ignored must stay so: held, it would wait all the same.
bool ends_the_process(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
         action.sa_handler == SIG_DFL;
}

}  // namespace

HeldSignals::HeldSignals() {
  ::sigemptyset(&held_);
  for (int number : kEnding)
    if (ends_the_process(number)) ::sigaddset(&held_, number);
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &held_, &before);
  // Those that were held before are not ours to let go.
  for (int number : kEnding)
    if (::sigismember(&before, number) == 1) ::sigdelset(&held_, number);
}

HeldSignals::~HeldSignals() { ::pthread_sigmask(SIG_UNBLOCK, &held_, nullptr); }

bool HeldSignals::any_waits() const {
  sigset_t waiting;
  if (::sigpending(&waiting) != 0) return false;
  for (int number : kEnding)
    if (::sigismember(&held_, number) == 1 && ::sigismember(&waiting, number) == 1) return true;
  return false;
}

}  // namespace weft::base
