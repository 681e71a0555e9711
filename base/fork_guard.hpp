// ForkGuard: keeps a socket from living on in children that the application forks.
//
// Whether a process died is told by the kernel closing its sockets, and that happens when the last copy is closed. A
// forked child (a data loader's worker, say) holds copies and would hide its parent's death. So the child's copies are
// replaced by /dev/null at fork: their numbers stay taken, and closing them there harms nobody. (Children that exec
// lose them by O_CLOEXEC.)
#pragma once

namespace weft::base {

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
