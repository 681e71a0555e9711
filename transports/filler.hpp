// Filler: how a message is put into memory that another core will read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/copy_bytes.hpp"

namespace weft::transports {

// How slots are best filled: through the caches, in which a near receiver finds the bytes, or past them, if it is so
// far away that a line which two caches hand back and forth costs more than its way through memory. Measured between
// two cores that a line takes 70 ns between: 32 KiB both ways take 3.0 us through the caches, 5.5 past them; where it
// takes 260 ns: 12.7 and 5.2 (Zen 3). So now and then the time of a fill through the caches is taken.
class Filler final {
 public:
  void fill(std::byte* slot, const void* data, std::size_t bytes) {
    if (bytes >= kTimedBytes && ++fills_ % kFillsPerProbe == 0) [[unlikely]]
      fill_timed(slot, data, bytes);
    else if (far_ && bytes >= kDistantBytes)
      base::copy_streaming(slot, data, bytes);
    else
      base::copy_bytes(slot, data, bytes);
  }

  bool far() const { return far_; }
  // How long a fill through the caches took. One slow one may be an interrupt, two are far away.
  void learn(std::size_t bytes, std::int64_t taken_ns);

 private:
  static constexpr std::size_t kDistantBytes = 2 * 1024;
  static constexpr std::size_t kTimedBytes = 4 * 1024;
  static constexpr std::uint32_t kFillsPerProbe = 64;

  void fill_timed(std::byte* slot, const void* data, std::size_t bytes);

  std::uint32_t fills_ = 0;
  bool far_ = false;
  bool was_slow_ = false;
};

}  // namespace weft::transports
