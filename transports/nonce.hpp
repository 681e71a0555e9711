// Nonce: 128 random bits that name one transport of one process, so that nobody connects to another by mistake or by
// guessing.
#pragma once

#include <sys/random.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace weft::transports {

using Nonce = std::array<std::uint8_t, 16>;

inline Nonce random_nonce() {
  Nonce nonce{};
  std::size_t filled = 0;
  while (filled < nonce.size()) {  // at most 16 bytes: the kernel gives all or is interrupted
    const ssize_t got = ::getrandom(nonce.data() + filled, nonce.size() - filled, 0);
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  return nonce;
}

inline std::string to_hex(const Nonce& nonce) {
  std::string text;
  for (const std::uint8_t byte : nonce) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace weft::transports
