// JoinedProgram: one channel's instructions put together from whole collectives and from work on this rank alone.
//
// Each stage was bound, and proved, as a call of its own; here its buffers become places in the joined call's, and its
// waits count the sends of the stages before it. A stage reads only what the stages before it left, so between them
// nothing needs to be waited for but what its instructions wait for anyway: places of stages do not overlap.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "comm/bound_plan.hpp"
#include "comm/instruction.hpp"

namespace weft::comm {

// Where bytes of a joined call lie.
struct JoinedPlace {
  Base base = Base::Scratch;
  std::uint64_t offset = 0;
};

// The lanes of a stage: those of some ranks of the communicator, on one channel of the joined call.
class StageLanes final : public LaneDirectory {
 public:
  // `members`: the communicator's ranks, by rank in the stage. All are outlived.
  StageLanes(LaneDirectory& lanes, const std::vector<int>& members, int channel)
      : lanes_(lanes), members_(members), channel_(channel) {}
  std::uint16_t lane(int peer, int) override { return lanes_.lane(members_[static_cast<std::size_t>(peer)], channel_); }
  std::uint32_t slices(std::uint16_t lane, std::uint64_t bytes) const override { return lanes_.slices(lane, bytes); }

 private:
  LaneDirectory& lanes_;
  const std::vector<int>& members_;
  int channel_;
};

class JoinedProgram final {
 public:
  explicit JoinedProgram(LaneDirectory& lanes) : lanes_(lanes) {}

  // Scratch that nothing else uses.
  JoinedPlace reserve(std::uint64_t bytes);

  // Work of this rank.
  void pack(JoinedPlace packed, std::uint64_t blocks, JoinedPlace values, std::uint64_t value_bytes);
  void unpack(JoinedPlace values, std::uint64_t value_bytes, JoinedPlace packed);
  void sum(JoinedPlace packed, std::uint64_t blocks, JoinedPlace parts, std::uint64_t stride);

  // Waits until no send reads its source any more.
  void wait_for_sends();

  // A bound collective of one channel and one pass, whose input and output become these.
  void stage(const BoundChannel& bound, JoinedPlace in, JoinedPlace out);

  BoundChannel take() { return std::move(joined_); }

 private:
  struct Buffers {
    JoinedPlace by_base[3];
  };
  static Instruction local(InstructionCode code, JoinedPlace dst, JoinedPlace src, std::uint64_t bytes);
  static void move(Instruction& instruction, const Buffers& buffers);
  void count_sends(const Instruction& instruction);
  void use(std::uint16_t lane, std::uint32_t messages);

  LaneDirectory& lanes_;
  BoundChannel joined_;
  std::map<std::uint16_t, std::uint32_t> sent_;  // slices by lane, of all stages
};

}  // namespace weft::comm
