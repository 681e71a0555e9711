// Stages in one program: their places are moved, and waits count the sends of all stages before them.
#include "comm/joined_program.hpp"

#include <gtest/gtest.h>

namespace weft::comm {
namespace {

class OneLaneAPeer final : public LaneDirectory {
 public:
  std::uint16_t lane(int peer, int /*channel*/) override { return static_cast<std::uint16_t>(peer); }
  std::uint32_t slices(std::uint16_t /*lane*/, std::uint64_t bytes) const override { return bytes > 100 ? 2 : 1; }
};

Instruction of(InstructionCode code, std::uint16_t lane, Base src, std::uint32_t bytes) {
  Instruction instruction{};
  instruction.code = code;
  instruction.lane = lane;
  instruction.wait_lane = instruction.to_lane = kNoLane;
  instruction.landing = kNoLanding;
  instruction.src_base = src;
  instruction.bytes = bytes;
  return instruction;
}

Instruction wait_for(std::uint16_t lane, std::uint32_t slices) {
  Instruction instruction = of(InstructionCode::Wait, lane, Base::Input, 0);
  instruction.wait = slices;
  return instruction;
}

BoundChannel stage_of(std::vector<Instruction> instructions) {
  BoundChannel bound;
  bound.instructions = std::move(instructions);
  bound.lanes = {1, 2};
  bound.messages = {1, 1};
  return bound;
}

TEST(JoinedProgram, a_wait_counts_every_kind_of_send_of_the_stages_before) {
  OneLaneAPeer lanes;
  JoinedProgram program(lanes);
  Instruction forward = of(InstructionCode::RecvSend, 1, Base::Input, 10);
  forward.to_lane = 2;
  program.stage(stage_of({of(InstructionCode::SendToSeveral, 1, Base::Input, 200),
                          of(InstructionCode::SendAgain, 2, Base::Input, 200), forward,
                          of(InstructionCode::Send, 1, Base::Input, 10)}),
                {Base::Input, 0}, {Base::Output, 0});
  program.stage(stage_of({wait_for(1, 1), wait_for(2, 1)}), {Base::Input, 0}, {Base::Output, 0});
  program.wait_for_sends();
  const BoundChannel joined = program.take();
  const auto wait = [&](std::size_t from_end) {
    return joined.instructions[joined.instructions.size() - from_end].wait;
  };
  EXPECT_EQ(wait(4), 3U + 1U);
  EXPECT_EQ(wait(3), 3U + 1U);
  EXPECT_EQ(wait(2), 3U);
  EXPECT_EQ(wait(1), 3U);
}

// Where it will run: a stage's input may be scratch of the joined call.
TEST(JoinedProgram, says_whether_it_sends_from_scratch) {
  OneLaneAPeer lanes;
  for (const Base in : {Base::Input, Base::Scratch}) {
    JoinedProgram program(lanes);
    program.stage(stage_of({of(InstructionCode::SendToSeveral, 1, Base::Input, 10)}), {in, 0}, {Base::Output, 0});
    EXPECT_EQ(program.take().sends_scratch, in == Base::Scratch);
    JoinedProgram forwarding(lanes);
    Instruction forward = of(InstructionCode::RecvSend, 1, Base::Input, 10);
    forward.to_lane = 2;
    forward.dst_base = Base::Output;
    forwarding.stage(stage_of({forward}), {Base::Input, 0}, {in == Base::Scratch ? Base::Scratch : Base::Output, 0});
    EXPECT_EQ(forwarding.take().sends_scratch, in == Base::Scratch);
  }
}

}  // namespace
}  // namespace weft::comm
