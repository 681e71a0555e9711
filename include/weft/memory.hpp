// SymmetricMemory: memory that the other ranks of a host read where it lies.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "weft/status.hpp"

namespace weft {

namespace comm {
class SymmetricAllocation;
}

// Made by Communicator::allocate(). Any buffer of any collective may lie in it, on some ranks or on all; what is sent
// from there to a rank that maps it is not copied on the way. Zeroed, on pages of its own. To be freed with
// Communicator::free(), which all ranks call; one that is only destroyed gives its own pages back, but peers keep them
// mapped until their communicators end. Must not outlive the last of the communicators that were split from one another.
class SymmetricMemory {
 public:
  SymmetricMemory();
  SymmetricMemory(SymmetricMemory&&) noexcept;
  SymmetricMemory& operator=(SymmetricMemory&&) noexcept;
  SymmetricMemory(const SymmetricMemory&) = delete;
  SymmetricMemory& operator=(const SymmetricMemory&) = delete;
  ~SymmetricMemory();

  std::byte* data() const;
  std::size_t bytes() const;
  // How many other ranks read it where it lies. To others messages are copied as from any memory.
  int readers() const;
  // Why a rank of this host does not; empty if none.
  std::string_view reason() const;

 private:
  friend class Communicator;
  explicit SymmetricMemory(std::unique_ptr<comm::SymmetricAllocation> allocation);
  std::unique_ptr<comm::SymmetricAllocation> allocation_;
};

}  // namespace weft
