// In blocks that stay in the first cache, so that each byte comes from further away once.
#include "comm/write_move.hpp"

#include <algorithm>

#include "base/copy_bytes.hpp"

namespace weft::comm {
namespace {

constexpr std::size_t kBlockBytes = 4096;

void reduce(const Move& move, std::byte* to, std::size_t at, std::size_t bytes) {
  move.kernel(to, move.src + at, move.message + at, bytes >> move.element_shift, move.parameter);
}

void write(std::byte* to, const std::byte* from, std::size_t bytes, bool streaming) {
  if (streaming)
    base::copy_streaming(to, from, bytes);
  else
    base::copy_bytes(to, from, bytes);
}

void write_stage(const Move& move, const std::byte* from, std::size_t at, std::size_t bytes) {
  if (move.stage.place == nullptr) return;
  write(static_cast<std::byte*>(move.stage.place) + at, from, bytes, move.stage.streaming);
}

void copy_block(const Move& move, std::size_t at, std::size_t bytes) {
  write_stage(move, move.message + at, at, bytes);
  write(move.dst + at, move.message + at, bytes, move.streaming);
}

void reduce_block(const Move& move, std::size_t at, std::size_t bytes) {
  alignas(64) std::byte block[kBlockBytes];
  std::byte* const to = move.streaming ? block : move.dst + at;
  reduce(move, to, at, bytes);
  write_stage(move, to, at, bytes);
  if (move.streaming) base::copy_streaming(move.dst + at, block, bytes);
}

}  // namespace

void write_move(const Move& move) noexcept {
  // One pass, whatever its length, is as good where there is one place to write.
  if (move.stage.place == nullptr && !move.streaming) {
    if (move.kernel != nullptr)
      reduce(move, move.dst, 0, move.bytes);
    else
      base::copy_bytes(move.dst, move.message, move.bytes);
    return;
  }
  for (std::size_t at = 0; at < move.bytes; at += kBlockBytes) {
    const std::size_t bytes = std::min(kBlockBytes, move.bytes - at);
    if (move.kernel != nullptr)
      reduce_block(move, at, bytes);
    else
      copy_block(move, at, bytes);
  }
}

}  // namespace weft::comm
