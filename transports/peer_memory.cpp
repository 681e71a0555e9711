// process_vm_readv.
#include "transports/peer_memory.hpp"

#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace weft::transports {

Result<PeerMemory> PeerMemory::open(pid_t process, std::uint64_t nonce_at, const Nonce& nonce) {
  const PeerMemory memory(process);
  Nonce found{};
  if (process <= 0 || nonce_at == 0 || !memory.read(found.data(), nonce_at, sizeof(found))) {
    const int error = process <= 0 || nonce_at == 0 ? ESRCH : errno;
    return Status(Code::Unsupported,
                  fmt::format("the memory of process {} cannot be read ({})", process, std::strerror(error)));
  }
  // A process id of another namespace names another process here.
  if (found != nonce) return Status(Code::Unsupported, fmt::format("process {} is not the peer", process));
  return memory;
}

bool PeerMemory::read(void* to, std::uint64_t from, std::size_t bytes) const {
  const iovec here{to, bytes};
  const iovec there{reinterpret_cast<void*>(from), bytes};
  return ::process_vm_readv(process_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

}  // namespace weft::transports
