// Argument checks of a call, and where its buffers must lie.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/operation.hpp"
#include "weft/status.hpp"

namespace weft::comm {

// InvalidArgument names the argument and the remedy. Looks at values only, and of a v-variant at the arrays of its
// Blocks; never into the buffers.
Status check(const Operation& operation, int rank, int size);
// The same without the buffers: for prepare() and explain().
Status check_call(const Operation& operation, int rank, int size);

// What a call that passed check_call() asks of its buffers at one rank. Made once per call, asked every time it is made
// again.
struct Footprint {
  std::uint64_t in_bytes = 0;
  std::uint64_t out_bytes = 0;
  bool may_be_in_place = false;
  std::ptrdiff_t in_place_offset = 0;  // where `in` then lies, from `out`

  // The buffers are the same memory by Operation's rules.
  bool in_place(const void* in, const void* out) const {
    return may_be_in_place && in != nullptr && out != nullptr &&
           address(in) == address(out) + static_cast<std::uintptr_t>(in_place_offset);
  }
  // The buffers are there where they are needed, and apart or in place.
  bool fits(const void* in, const void* out) const {
    if ((in_bytes > 0 && in == nullptr) || (out_bytes > 0 && out == nullptr)) return false;
    if (in_bytes == 0 || out_bytes == 0) return true;
    return address(in) >= address(out) + out_bytes || address(out) >= address(in) + in_bytes || in_place(in, out);
  }

 private:
  static std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
};

// Only for operations that passed check_call().
Footprint footprint(const Operation& operation, int rank, int size);

}  // namespace weft::comm
