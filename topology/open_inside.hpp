// Opens a file below a folder so that no link leads out of it.
#pragma once

#include "base/file_descriptor.hpp"

namespace weft::topology {

enum class Leading : unsigned char {
  Inside,   // links lead, absolute ones too, as if the folder were the root
  Refused,  // a link that leads out, at any place on the way, is EXDEV
};

// As openat(), with O_CLOEXEC; nothing, and errno, if it cannot be opened. Where the kernel has no openat2() or the
// container forbids it, links lead anywhere.
base::FileDescriptor open_inside(int folder, const char* path, int flags, Leading leading);

}  // namespace weft::topology
