// SharedMemory: a mapped memfd. It has no name, so nothing is left behind whoever dies, and it is sealed against
// resizing, so that no peer can make an access here fail.
#pragma once

#include <cstddef>

#include "base/file_descriptor.hpp"
#include "weft/status.hpp"

namespace weft::transports {

class SharedMemory {
 public:
  struct Created;
  // Zeroed memory; pages exist once they are touched. The descriptor is for a peer to map; close it when it was passed
  // on.
  static Result<Created> create(std::size_t bytes);
  // What a peer created. Refused unless it is sealed.
  static Result<SharedMemory> map(const base::FileDescriptor& descriptor);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;
  ~SharedMemory();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  SharedMemory(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  static Result<SharedMemory> map_bytes(const base::FileDescriptor& descriptor, std::size_t bytes);

  std::byte* data_;
  std::size_t bytes_;
};

struct SharedMemory::Created {
  SharedMemory memory;
  base::FileDescriptor descriptor;
};

}  // namespace weft::transports
