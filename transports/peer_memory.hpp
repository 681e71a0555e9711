// PeerMemory: reads the memory of another process where the system allows it: one copy instead of two.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "transports/nonce.hpp"
#include "weft/status.hpp"

namespace weft::transports {

class PeerMemory final {
 public:
  // Tries it on a nonce that the process keeps at that address. Unsupported, with the reason, if it cannot be read:
  // another user's process, one that is not dumpable, a user namespace, Yama's ptrace_scope.
  static Result<PeerMemory> open(pid_t process, std::uint64_t nonce_at, const Nonce& nonce);

  // All of it, or false: the process has ended, or has nothing there.
  bool read(void* to, std::uint64_t from, std::size_t bytes) const;

 private:
  explicit PeerMemory(pid_t process) : process_(process) {}

  pid_t process_;
};

}  // namespace weft::transports
