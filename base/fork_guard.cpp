// The list of guarded sockets, and the handlers around a fork.
#include "base/fork_guard.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace weft::base {

std::atomic<std::uint32_t> ForkMark::forks_ = 0;

void count_fork() { ForkMark::forks_.fetch_add(1, std::memory_order_relaxed); }

namespace {

// The one list a process needs: pthread_atfork hands no argument to its handlers. Never destroyed, because a fork may
// come while the program ends.
struct Guarded {
  std::mutex mutex;
  std::vector<int> descriptors;
};

Guarded& guarded() {
  static Guarded* const list = [] {
    auto* made = new Guarded;
    pthread_atfork([] { guarded().mutex.lock(); }, [] { guarded().mutex.unlock(); },
                   [] {
                     count_fork();
                     // Only async-signal-safe calls: other threads of the parent may have held any lock.
                     const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
                     for (const int descriptor : guarded().descriptors) {
                       if (null < 0 || ::dup3(null, descriptor, O_CLOEXEC) < 0) ::close(descriptor);
                     }
                     if (null >= 0) ::close(null);
                     guarded().mutex.unlock();
                   });
    return made;
  }();
  return *list;
}

}  // namespace

ForkMark::ForkMark() {
  static_cast<void>(guarded());  // from now on forks are counted
  made_at_ = forks_.load(std::memory_order_relaxed);
}

ForkGuard::ForkGuard(int descriptor) : descriptor_(descriptor) {
  const std::lock_guard lock(guarded().mutex);
  guarded().descriptors.push_back(descriptor);
}

ForkGuard::~ForkGuard() {
  const std::lock_guard lock(guarded().mutex);
  auto& descriptors = guarded().descriptors;
  const auto found = std::ranges::find(descriptors, descriptor_);
  if (found != descriptors.end()) descriptors.erase(found);
}

}  // namespace weft::base
