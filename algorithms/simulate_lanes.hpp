// Which receive takes which message: the n-th receive from a rank on a channel takes the n-th message that the rank
// sends there.
#pragma once

#include <vector>

#include "algorithms/draft.hpp"
#include "weft/schedule.hpp"

namespace weft::algorithms {

// The rank that a step sends to or receives from, or -1.
inline int receiver_of(const Step& step) {
  return step.kind == StepKind::Send ? step.peer : sends(step.kind) ? step.to : -1;
}
inline int sender_of(const Step& step) { return receives(step.kind) ? step.peer : -1; }
// What a sending step sends.
inline const Span& sent_span(const Step& step) { return step.kind == StepKind::Send ? step.src : step.dst; }

struct StepPlace {
  int rank = -1;
  int channel = 0;
  int step = 0;
};

struct LaneMessage {
  StepPlace from;
  StepPlace to;     // rank -1: nobody receives it
  int before = -1;  // the previous message of the same sender, receiver and channel
};

struct LaneMessages {
  std::vector<LaneMessage> messages;  // by sender, channel, step
  std::vector<StepPlace> unanswered;  // receives for which there is no message
};

// Safe on any schedule whose steps name existing ranks.
LaneMessages pair_messages(const Schedule& schedule);

}  // namespace weft::algorithms
