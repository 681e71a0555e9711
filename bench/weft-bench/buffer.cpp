// Pages of their own for each buffer, and guards that are compared byte by byte.
#include "bench/weft-bench/buffer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/message_sizes.hpp"

namespace weft::bench {
namespace {

constexpr std::byte kGuardByte{0xc5};

std::uint64_t changed(const std::byte* from) {
  return static_cast<std::uint64_t>(
      std::count_if(from, from + Buffer::kGuard, [](std::byte byte) { return byte != kGuardByte; }));
}

}  // namespace

Result<Buffer> Buffer::allocate(std::size_t capacity) {
  const std::size_t mapped = with_guards(capacity);
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Status(Code::ResourceExhausted, fmt::format("no memory for a buffer of {}: {}; choose a smaller --max-bytes",
                                                       base::format_bytes(capacity), std::strerror(errno)));
  }
  return Buffer(static_cast<std::byte*>(memory), mapped);
}

Result<Buffer> Buffer::allocate(Communicator& communicator, std::size_t capacity, bool symmetric) {
  if (!symmetric) return allocate(capacity);
  WEFT_TRY_ASSIGN(SymmetricMemory memory, communicator.allocate(with_guards(capacity)));
  Buffer buffer(memory.data(), memory.bytes());
  buffer.symmetric_ = std::move(memory);
  return buffer;
}

Buffer::Buffer(Buffer&& other) noexcept
    : symmetric_(std::move(other.symmetric_)),
      memory_(std::exchange(other.memory_, nullptr)),
      mapped_(other.mapped_),
      placed_(other.placed_) {}

Buffer::~Buffer() {
  if (memory_ != nullptr && symmetric_.data() == nullptr) munmap(memory_, mapped_);
}

std::span<std::byte> Buffer::place(std::size_t bytes) {
  placed_ = bytes;
  std::fill_n(memory_, kGuard, kGuardByte);
  std::fill_n(memory_ + kGuard + bytes, kGuard, kGuardByte);
  return {memory_ + kGuard, bytes};
}

std::uint64_t Buffer::broken_guards() const { return changed(memory_) + changed(memory_ + kGuard + placed_); }

}  // namespace weft::bench
