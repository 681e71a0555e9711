// Memory for one side of a collective, with a guard zone before and after: a call that writes outside its buffer is
// found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "weft/communicator.hpp"
#include "weft/memory.hpp"
#include "weft/status.hpp"

namespace weft::bench {

class Buffer {
 public:
  // ResourceExhausted if the machine has no such memory.
  static Result<Buffer> allocate(std::size_t capacity);
  // The same, or in symmetric memory; that is collective, and the communicator outlives it.
  static Result<Buffer> allocate(Communicator& communicator, std::size_t capacity, bool symmetric);

  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer();

  // The buffer for one measurement: `bytes` <= capacity, page-aligned, with new guards around it.
  std::span<std::byte> place(std::size_t bytes);
  // Guard bytes that changed since place().
  std::uint64_t broken_guards() const;

  static constexpr std::size_t kGuard = 4096;

 private:
  Buffer(std::byte* memory, std::size_t mapped) : memory_(memory), mapped_(mapped) {}
  static std::size_t with_guards(std::size_t capacity) { return (capacity + 3 * kGuard - 1) / kGuard * kGuard; }

  SymmetricMemory symmetric_;  // that memory_ is in; without data: memory_ was mapped here
  std::byte* memory_;
  std::size_t mapped_;
  std::size_t placed_ = 0;
};

}  // namespace weft::bench
