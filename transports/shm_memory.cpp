// memfd_create, seals and mmap.
#include "transports/shm_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace weft::transports {

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Status system_error(std::string_view what) {
  const int error = errno;
  return {error == EMFILE || error == ENFILE || error == ENOMEM ? Code::ResourceExhausted : Code::SystemError,
          fmt::format("{}: {}", what, std::strerror(error))};
}

int make_memfd() {
  constexpr unsigned kNoExecSeal =
      0x0008U;  // MFD_NOEXEC_SEAL, Linux 6.3; some systems insist on it, older ones refuse it
  const int fd = ::memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING | kNoExecSeal);
  return fd >= 0 || errno != EINVAL ? fd : ::memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

}  // namespace

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

Result<SharedMemory> SharedMemory::map_bytes(const base::FileDescriptor& descriptor, std::size_t bytes) {
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor.get(), 0);
  if (data == MAP_FAILED) {
    return system_error(
        fmt::format("cannot map {} bytes of shared memory (limits on address space? ulimit -v)", bytes));
  }
  return SharedMemory(static_cast<std::byte*>(data), bytes);
}

Result<SharedMemory::Created> SharedMemory::create(std::size_t bytes) {
  base::FileDescriptor descriptor(make_memfd());
  if (!descriptor) return system_error("cannot create shared memory (memfd_create)");
  if (::ftruncate(descriptor.get(), static_cast<off_t>(bytes)) != 0) {
    return system_error(fmt::format("cannot size shared memory to {} bytes", bytes));
  }
  if (::fcntl(descriptor.get(), F_ADD_SEALS, kSeals) != 0) return system_error("cannot seal shared memory");
  WEFT_TRY_ASSIGN(SharedMemory memory, map_bytes(descriptor, bytes));
  return Created{std::move(memory), std::move(descriptor)};
}

Result<SharedMemory> SharedMemory::map(const base::FileDescriptor& descriptor) {
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) return system_error("cannot inspect a peer's shared memory");
  const int seals = ::fcntl(descriptor.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals || status.st_size <= 0) {
    return Status(Code::Corrupt, "a peer's shared memory is not sealed against resizing; refused");
  }
  return map_bytes(descriptor, static_cast<std::size_t>(status.st_size));
}

}  // namespace weft::transports
