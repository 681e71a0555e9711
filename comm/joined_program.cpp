// Moves bound instructions into other buffers.
#include "comm/joined_program.hpp"

#include <algorithm>
#include <cstddef>

#include "base/assert.hpp"

namespace weft::comm {

JoinedPlace JoinedProgram::reserve(std::uint64_t bytes) {
  const JoinedPlace place{Base::Scratch, joined_.scratch_bytes};
  joined_.scratch_bytes += (bytes + kLandingUnit - 1) / kLandingUnit * kLandingUnit;
  return place;
}

Instruction JoinedProgram::local(InstructionCode code, JoinedPlace dst, JoinedPlace src, std::uint64_t bytes) {
  WEFT_ASSERT(bytes <= kMaxPiece);
  Instruction instruction{};
  instruction.code = code;
  instruction.lane = kNoLane;
  instruction.wait_lane = instruction.to_lane = kNoLane;
  instruction.dst_base = dst.base;
  instruction.src_base = src.base;
  instruction.dst = dst.offset & kOffsetMask;
  instruction.src = src.offset & kOffsetMask;
  instruction.bytes = static_cast<std::uint32_t>(bytes);
  return instruction;
}

void JoinedProgram::pack(JoinedPlace packed, std::uint64_t blocks, JoinedPlace values, std::uint64_t value_bytes) {
  joined_.instructions.push_back(local(InstructionCode::Pack, packed, values, value_bytes));
  joined_.instructions.back().set_extra(blocks);
}

void JoinedProgram::unpack(JoinedPlace values, std::uint64_t value_bytes, JoinedPlace packed) {
  joined_.instructions.push_back(local(InstructionCode::Unpack, values, packed, value_bytes));
}

void JoinedProgram::sum(JoinedPlace packed, std::uint64_t blocks, JoinedPlace parts, std::uint64_t stride) {
  joined_.instructions.push_back(local(InstructionCode::SumPacked, packed, parts, blocks * kPackedBlockBytes));
  joined_.instructions.back().set_extra(stride);
}

void JoinedProgram::wait_for_sends() {
  for (const auto& [lane, slices] : sent_) {
    Instruction instruction = local(InstructionCode::Wait, {}, {}, 0);
    instruction.lane = lane;
    instruction.wait = slices;
    joined_.instructions.push_back(instruction);
  }
}

void JoinedProgram::stage(const BoundChannel& bound, JoinedPlace in, JoinedPlace out) {
  WEFT_ASSERT(bound.passes == 1);
  const Buffers buffers{{in, out, reserve(bound.scratch_bytes)}};
  const std::map<std::uint16_t, std::uint32_t> before = sent_;
  const auto sent_before = [&](std::uint16_t lane) {
    const auto found = before.find(lane);
    return found == before.end() ? 0U : found->second;
  };
  for (std::size_t i = 0; i < bound.lanes.size(); ++i) use(bound.lanes[i], bound.messages[i]);
  for (Instruction instruction : bound.instructions) {
    if (instruction.code == InstructionCode::Wait) {
      instruction.wait += sent_before(instruction.lane);
    } else {
      move(instruction, buffers);
      if (instruction.wait_lane != kNoLane) instruction.wait += sent_before(instruction.wait_lane);
    }
    count_sends(instruction);
    joined_.instructions.push_back(instruction);
  }
}

// Of places that an instruction has not, the offsets change, too, and nobody reads them.
void JoinedProgram::move(Instruction& instruction, const Buffers& buffers) {
  const auto at = [&](Base base) { return buffers.by_base[static_cast<std::size_t>(base)]; };
  const JoinedPlace dst = at(instruction.dst_base);
  const JoinedPlace src = at(instruction.src_base);
  if (instruction.code == InstructionCode::Reduce) {
    const JoinedPlace src2 = at(instruction.src2_base);
    instruction.set_src2(instruction.src2() + src2.offset);
    instruction.src2_base = src2.base;
  } else if (instruction.landing != kNoLanding) {
    instruction.landing += static_cast<std::uint32_t>(at(Base::Scratch).offset / kLandingUnit);
  }
  instruction.dst_base = dst.base;
  instruction.src_base = src.base;
  instruction.dst = (instruction.dst + dst.offset) & kOffsetMask;
  instruction.src = (instruction.src + src.offset) & kOffsetMask;
}

// The instruction lies where it will run.
void JoinedProgram::count_sends(const Instruction& instruction) {
  const bool forwards = instruction.to_lane != kNoLane;
  if (!sends(instruction.code) && !forwards) return;
  const std::uint16_t lane = forwards ? instruction.to_lane : instruction.lane;
  sent_[lane] += lanes_.slices(lane, instruction.bytes);
  if ((forwards ? instruction.dst_base : instruction.src_base) == Base::Scratch) joined_.sends_scratch = true;
}

void JoinedProgram::use(std::uint16_t lane, std::uint32_t messages) {
  const auto found = std::find(joined_.lanes.begin(), joined_.lanes.end(), lane);
  if (found == joined_.lanes.end()) {
    joined_.lanes.push_back(lane);
    joined_.messages.push_back(messages);
  } else {
    joined_.messages[static_cast<std::size_t>(found - joined_.lanes.begin())] += messages;
  }
}

}  // namespace weft::comm
