// What must hold for any bytes that arrive: for libFuzzer (store_frame_fuzz.cpp) and for the seeded mutations of the
// test.
#pragma once

#include <cstdlib>
#include <string_view>

#include "transports/store/frame.hpp"
#include "transports/store/hello.hpp"

namespace weft::transports {

// Aborts if the parser takes more than it was given, passes a limit, or gives a frame that is not what was on the wire.
inline void check_any_bytes(std::string_view bytes, const FrameLimits& limits) {
  while (true) {
    const auto parsed = parse_frame(bytes, limits);
    if (!parsed.has_value()) {
      if (parsed.error().code() != Code::Corrupt && parsed.error().code() != Code::Unsupported) std::abort();
      return;
    }
    if (!*parsed) return;
    const ParsedFrame& found = **parsed;
    if (found.consumed < kFrameHeaderBytes || found.consumed > bytes.size()) std::abort();
    if (found.frame.key.size() > limits.key_bytes || found.frame.value.size() > limits.value_bytes) std::abort();
    if (encode(found.frame) != bytes.substr(0, found.consumed)) std::abort();
    if (found.frame.type == FrameType::Hello) {
      const auto hello = parse_hello(found.frame);
      if (hello.has_value() && (hello->rank < 0 || hello->rank >= hello->size)) std::abort();
    }
    bytes.remove_prefix(found.consumed);
  }
}

}  // namespace weft::transports
