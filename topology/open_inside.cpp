// openat2() and what it may answer besides.
#include "topology/open_inside.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace weft::topology {

base::FileDescriptor open_inside(int folder, const char* path, int flags, Leading leading) {
  constexpr int kTries = 64;  // EAGAIN: something was renamed or mounted meanwhile, anywhere
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = leading == Leading::Inside ? RESOLVE_IN_ROOT : RESOLVE_BENEATH;
  int file = -1;
  for (int i = 0; i < kTries; ++i) {
    file = static_cast<int>(::syscall(SYS_openat2, folder, path, &how, sizeof how));
    if (file >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  if (file < 0 && (errno == ENOSYS || errno == EPERM)) file = ::openat(folder, path, flags | O_CLOEXEC);
  return base::FileDescriptor(file);
}

}  // namespace weft::topology
