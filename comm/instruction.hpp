// Instruction: one step of one channel, bound to byte offsets and lanes. What the engine's switch runs.
//
// 32 bytes, so two share a cache line. Steps larger than kMaxPiece are cut into several instructions when a plan is
// bound, so `bytes` fits 32 bits.
#pragma once

#include <cstdint>

namespace weft::comm {

enum class InstructionCode : std::uint8_t {
  Send,
  SendToSeveral,  // the first of several sends of the same bytes
  SendAgain,      // what the step before it sent
  Recv,
  RecvReduce,
  Copy,
  Reduce,
  Wait,
  RecvSend,
  RecvReduceSend,
  // Of quantised calls, see comm/kernels/quantise.hpp. `bytes`: of the numbers; of a sum, of the packed result.
  Pack,       // dst = blocks of src; extra(): how many
  Unpack,     // dst = the numbers in the blocks at src
  SumPacked,  // dst = the sum of the blocks at src, src + extra(), ...
};

constexpr bool sends(InstructionCode code) {
  return code == InstructionCode::Send || code == InstructionCode::SendToSeveral || code == InstructionCode::SendAgain;
}

// Which of an operation's three buffers an offset counts from.
enum class Base : std::uint8_t { Input, Output, Scratch };

inline constexpr std::uint64_t kMaxPiece = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << 48) - 1;
inline constexpr std::uint64_t kLandingUnit = 64;
inline constexpr std::uint32_t kNoLanding = 0xffff'ffff;
inline constexpr std::uint64_t kMaxScratch = kNoLanding * kLandingUnit;  // of a channel: what `landing` can name
inline constexpr std::uint16_t kNoLane = 0xffff;

struct Instruction {
  InstructionCode code : 4;
  Base dst_base : 2;
  Base src_base : 2;
  Base src2_base : 2;        // Reduce
  bool final_reduction : 1;  // uses the plan's final kernel
  bool to_several : 1;       // RecvSend, RecvReduceSend: the next steps send dst again
  bool swapped : 1;          // a reduction whose second operand comes first
  std::uint16_t lane;        // Send: out; Recv*: in; Wait: whose send
  std::uint32_t bytes;
  std::uint64_t dst : 48;        // offsets in bytes
  std::uint64_t wait_lane : 16;  // Recv*: the lane whose send must be complete before dst is written; kNoLane: none
  std::uint64_t src : 48;
  std::uint64_t to_lane : 16;  // RecvSend, RecvReduceSend: out
  std::uint32_t wait;          // wait_lane's slices, counted from the operation's start
  std::uint32_t landing;       // offset in scratch in units of kLandingUnit, or kNoLanding

  // Reduce has a second source and neither waits nor lands: its offset takes their place.
  std::uint64_t src2() const { return std::uint64_t{wait} << 32 | landing; }
  void set_src2(std::uint64_t offset) {
    wait = static_cast<std::uint32_t>(offset >> 32);
    landing = static_cast<std::uint32_t>(offset);
  }
  // Pack and SumPacked keep a number there.
  std::uint64_t extra() const { return src2(); }
  void set_extra(std::uint64_t number) { set_src2(number); }
};
static_assert(sizeof(Instruction) == 32);

}  // namespace weft::comm
