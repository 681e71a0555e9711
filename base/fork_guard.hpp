// ForkGuard: keeps a socket from living on in children that the application forks.
//
// Whether a process died is told by the kernel closing its sockets, and that happens when the last copy is closed. A
// forked child (a data loader's worker, say) holds copies and would hide its parent's death. So the child's copies are
// replaced by /dev/null at fork: their numbers stay taken, and closing them there harms nobody. (Children that exec
// lose them by O_CLOEXEC.)
//
// ForkMark: whether this is still the process in which it was made.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::base {

class ForkMark {
 public:
  ForkMark();
  bool forked() const { return forks_.load(std::memory_order_relaxed) != made_at_; }
  // In which it was made: how many forks lie between the first process and it.
  std::uint32_t process() const { return made_at_; }

 private:
  friend void count_fork();
  static std::atomic<std::uint32_t> forks_;  // that lie between the first process and this one

  std::uint32_t made_at_;
};

class ForkGuard {
 public:
  // For as long as this lives. `descriptor` must be open meanwhile.
  explicit ForkGuard(int descriptor);
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

 private:
  const int descriptor_;
};

}  // namespace weft::base
