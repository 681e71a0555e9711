// verify: proves a schedule before it runs. See docs/schedules.md for what is proved and why one execution is a proof.
#pragma once

#include <vector>

#include "weft/schedule.hpp"
#include "weft/status.hpp"

namespace weft::algorithms {

// When a posted send stops reading its source: a lane buffers up to `slots` messages; further ones wait at the sender.
// 0 is rendezvous: the source is read when the receiver takes the message.
struct SendModel {
  int slots = 0;

  static constexpr SendModel rendezvous() { return {0}; }
  static constexpr SendModel buffered(int slots) { return {slots}; }
  static constexpr SendModel unbounded() { return {-1}; }

  bool operator==(const SendModel&) const = default;
};

struct VerifyOptions {
  std::vector<SendModel> models = {SendModel::rendezvous(), SendModel::buffered(1), SendModel::unbounded()};
  bool canonical = false;  // also: every reduction is in the order of Numerics::Invariant
};

// OK if the schedule, which must hold the steps of all ranks, is right under each of the send models:
//   - every output chunk holds every contribution it must hold exactly once (a barrier: at least once), and nothing
//   else;
//   - no rank waits for ever, and no message is left over;
//   - both ends of every message agree on its chunks, so on its size, whatever the element count;
//   - no step reads memory that nothing wrote, nor writes memory that a send may still be reading: a send is unfinished
//     until a Wait (or `wait`) names it or a later send of its lane;
//   - a place in memory belongs to one channel;
//   - where several ranks hold the same result, they computed it by one tree, up to the order of two operands;
//   - each value of a reducing collective of more than one rank passed exactly one final_reduction.
// Else Code::Corrupt with a message that names rank, channel and step index, and says what is wrong. Safe on any value
// of Schedule, however mangled.
Status verify(const Schedule& schedule, const VerifyOptions& options = {});

}  // namespace weft::algorithms
