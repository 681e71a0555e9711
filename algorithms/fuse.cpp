// Fusing: one step for what the engine does in one pass over memory. A message that is reduced or copied once is used
// where the transport has it; a result that is passed on next leaves slice by slice while later slices still come.
#include <cstddef>

#include "algorithms/assemble.hpp"

namespace weft::algorithms {
namespace {

bool is_message(const Draft& draft, const Span& span) {
  return span.space == Space::Scratch && draft.slots[static_cast<std::size_t>(span.slot)].use == SlotUse::Message;
}

// How many steps touch each slot: a message slot that only its receive and one use touch is a landing.
std::vector<int> uses(const Draft& draft) {
  std::vector<int> result(draft.slots.size(), 0);
  for (const auto& steps : draft.channels)
    for (const DraftStep& entry : steps)
      for (const Span* span : {&entry.step.dst, &entry.step.src, &entry.step.src2})
        if (span->space == Space::Scratch) ++result[static_cast<std::size_t>(span->slot)];
  return result;
}

// [Recv -> slot; at most one Wait; Reduce or Copy from slot] at position i: returns how many steps it takes, or 0.
std::size_t match_use(const Draft& draft, const std::vector<int>& uses, const std::vector<DraftStep>& steps,
                      std::size_t i) {
  const Step& receive = steps[i].step;
  if (receive.kind != StepKind::Recv || !is_message(draft, receive.dst)) return 0;
  if (uses[static_cast<std::size_t>(receive.dst.slot)] != 2) return 0;
  std::size_t use = i + 1;
  if (use < steps.size() && steps[use].step.kind == StepKind::Wait) ++use;
  if (use >= steps.size()) return 0;
  const Step& step = steps[use].step;
  const bool reduces = step.kind == StepKind::Reduce && step.src2 == receive.dst;
  const bool copies = step.kind == StepKind::Copy && step.src == receive.dst;
  return reduces || copies ? use - i + 1 : 0;
}

DraftStep join_use(const std::vector<DraftStep>& steps, std::size_t i, std::size_t length) {
  const Step& use = steps[i + length - 1].step;
  DraftStep joined = steps[i];
  joined.step.landing = joined.step.dst;
  joined.step.dst = use.dst;
  if (use.kind == StepKind::Reduce) {
    joined.step.kind = StepKind::RecvReduce;
    joined.step.src = use.src;
    joined.step.final_reduction = use.final_reduction;
  }
  if (length == 3) joined.step.wait = steps[i + 1].step.wait;
  return joined;
}

// The joined step takes the id of the Send: that is what waits name.
void join_send(DraftStep& receive, const DraftStep& send) {
  receive.step.kind = receive.step.kind == StepKind::Recv ? StepKind::RecvSend : StepKind::RecvReduceSend;
  receive.step.to = send.step.peer;
  receive.id = send.id;
}

}  // namespace

void fuse(Draft& draft) {
  const std::vector<int> use_count = uses(draft);
  for (auto& steps : draft.channels) {
    std::vector<DraftStep> result;
    result.reserve(steps.size());
    for (std::size_t i = 0; i < steps.size();) {
      const std::size_t length = match_use(draft, use_count, steps, i);
      if (length > 0) {
        result.push_back(join_use(steps, i, length));
        i += length;
      } else if (steps[i].step.kind == StepKind::Send && !result.empty() && receives(result.back().step.kind) &&
                 !sends(result.back().step.kind) && result.back().step.dst == steps[i].step.src) {
        join_send(result.back(), steps[i++]);
      } else {
        result.push_back(steps[i++]);
      }
    }
    steps = std::move(result);
  }
}

}  // namespace weft::algorithms
