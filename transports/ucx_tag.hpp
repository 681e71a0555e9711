// How a lane's message is named in UCX's 64-bit tag: who sends, on which lane, and a digest of the signature.
//
//   63        48 47                    20 19        0
//   |  sender   |          lane          |  digest   |
//
// A receive matches sender and lane and ignores the digest, so that the order within a lane is UCX's order among
// matching messages; the digest is then compared. Two different signatures have equal digests once in a million times.
#pragma once

#include <cstdint>

#include <ucp/api/ucp.h>

#include "transports/transport.hpp"

namespace weft::transports {

inline constexpr int kTagDigestBits = 20;
inline constexpr int kTagLaneBits = 28;  // communicator id (20 bits) and channel (8 bits)
inline constexpr int kTagSenderBits = 16;
static_assert(kTagDigestBits + kTagLaneBits + kTagSenderBits == 64);

inline constexpr std::uint64_t kMaxTagLane = (std::uint64_t{1} << kTagLaneBits) - 1;
inline constexpr int kMaxTagSender = (1 << kTagSenderBits) - 1;
inline constexpr ucp_tag_t kTagMatchMask = ~((ucp_tag_t{1} << kTagDigestBits) - 1);

inline ucp_tag_t lane_tag(int sender, std::uint64_t lane) {
  return static_cast<std::uint64_t>(sender) << (kTagLaneBits + kTagDigestBits) | lane << kTagDigestBits;
}

// Of what lanes have in common, from any sender, whose numbers differ in the lowest `bits` bits only.
inline ucp_tag_t lanes_mask(int bits) { return (kMaxTagLane >> bits << bits) << kTagDigestBits; }

// Mixed twice, so that a change in the sequence and one in the hash cannot cancel out.
inline ucp_tag_t signature_digest(const Signature& signature) {
  const auto mix = [](std::uint64_t value) {  // the finaliser of splitmix64
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
  };
  const std::uint64_t call = static_cast<std::uint64_t>(signature.call) << 32 | signature.sequence;
  return mix(mix(signature.hash) ^ call) >> (64 - kTagDigestBits);
}

}  // namespace weft::transports
