// write_move: what a received message does to its destination, and to the next message if it is sent on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "comm/kernels/kernels.hpp"
#include "transports/transport.hpp"

namespace weft::comm {

// dst = message, or src op message; and the same onto the stage, if there is one. `src` and `message` may each be
// `dst`.
struct Move {
  std::byte* dst = nullptr;
  const std::byte* src = nullptr;
  const std::byte* message = nullptr;
  transports::Stage stage;  // of the message in which the result is sent on
  std::size_t bytes = 0;
  ReduceKernel kernel = nullptr;  // null: a copy
  std::uint32_t element_shift = 0;
  std::intptr_t parameter = 1;  // of the kernel
  bool streaming = false;       // dst is written past the caches
};

void write_move(const Move& move) noexcept;

}  // namespace weft::comm
