// A schedule in words: a picture of who sends to whom, and the steps of each rank and channel.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/export.hpp"
#include "algorithms/simulate_lanes.hpp"
#include "base/plural.hpp"

namespace weft::algorithms {
namespace {

constexpr int kMaxPictureRanks = 32;  // a wider matrix fits no screen

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// "in[3]", "out[0..7]", "scratch2[0]".
std::string span_text(const Span& span) {
  if (span.space == Space::None) return "nothing";
  std::string name(to_string(span.space));
  if (span.space == Space::Scratch) name += fmt::format("{}", span.slot);
  if (span.count == 1) return fmt::format("{}[{}]", name, span.first);
  if (span.count == 0) return fmt::format("{}[]", name);
  return fmt::format("{}[{}..{}]", name, span.first, span.first + span.count - 1);
}

std::string receive_text(const Step& step) {
  const bool reduce = step.kind == StepKind::RecvReduce || step.kind == StepKind::RecvReduceSend;
  if (!reduce) return fmt::format("receive {} from {}", span_text(step.dst), step.peer);
  if (step.src == step.dst) return fmt::format("receive from {} and reduce into {}", step.peer, span_text(step.dst));
  return fmt::format("receive from {} and reduce with {} into {}", step.peer, span_text(step.src), span_text(step.dst));
}

std::string step_text(const Step& step) {
  std::string text;
  switch (step.kind) {
    case StepKind::Send:
      text = fmt::format("send {} to {}", span_text(step.src), step.peer);
      break;
    case StepKind::Recv:
    case StepKind::RecvReduce:
      text = receive_text(step);
      break;
    case StepKind::RecvSend:
    case StepKind::RecvReduceSend:
      text = fmt::format("{}, send that to {}", receive_text(step), step.to);
      break;
    case StepKind::Copy:
      text = fmt::format("copy {} to {}", span_text(step.src), span_text(step.dst));
      break;
    case StepKind::Reduce:
      text = fmt::format("reduce {} with {} into {}", span_text(step.src), span_text(step.src2), span_text(step.dst));
      break;
    case StepKind::Wait:
      return fmt::format("wait until the send of step {} is done", step.wait);
  }
  if (step.wait >= 0) text += fmt::format(", after the send of step {} is done", step.wait);
  if (step.final_reduction) text += " (complete)";
  return text;
}

// Messages from each rank (row) to each rank (column).
std::string picture(const Schedule& schedule) {
  const int size = schedule.size;
  std::vector<int> counts(index(size) * index(size), 0);
  for (const LaneMessage& message : pair_messages(schedule).messages)
    if (message.to.rank >= 0) ++counts[index(message.from.rank) * index(size) + index(message.to.rank)];
  const std::size_t width = 1 + std::max(std::to_string(size - 1).size(),
                                         std::to_string(*std::max_element(counts.begin(), counts.end())).size());
  std::string text = fmt::format("messages from (row) to (column)\n{:>6}", "");
  for (int to = 0; to < size; ++to) text += fmt::format("{:>{}}", to, width);
  text += '\n';
  for (int from = 0; from < size; ++from) {
    text += fmt::format("{:>6}", from);
    for (int to = 0; to < size; ++to) {
      const int count = counts[index(from) * index(size) + index(to)];
      text += fmt::format("{:>{}}", count == 0 ? "." : std::to_string(count), width);
    }
    text += '\n';
  }
  return text;
}

std::string rank_text(const Schedule& schedule, int rank) {
  const RankProgram& program = schedule.ranks[index(rank)];
  std::size_t pieces = 0;
  for (const ScratchSlot& slot : program.scratch) pieces += slot.chunks.size();
  std::string text = fmt::format("\nrank {}{}, scratch for {}\n", rank, program.in_place ? ", in place" : "",
                                 base::plural(pieces, "chunk"));
  for (std::size_t channel = 0; channel < program.channels.size(); ++channel) {
    const std::vector<Step>& steps = program.channels[channel];
    if (program.channels.size() > 1) text += fmt::format("  channel {}\n", channel);
    for (std::size_t i = 0; i < steps.size(); ++i) text += fmt::format("  {:>4}  {}\n", i, step_text(steps[i]));
  }
  return text;
}

}  // namespace

std::string to_text(const Schedule& schedule, int rank) {
  const int blocks = layout_of(schedule).blocks();
  std::string text =
      fmt::format("{}/{}: {}, {}, {} of {}", to_string(schedule.collective), schedule.algorithm,
                  base::plural(index(schedule.size), "rank"), base::plural(index(schedule.channels), "channel"),
                  base::plural(index(blocks), "block"), base::plural(index(schedule.chunks_per_block), "chunk"));
  if (has_root(schedule.collective)) text += fmt::format(", root {}", schedule.root);
  text += fmt::format(", program {:016x}\n", schedule.program_hash);
  if (schedule.size > 1 && schedule.size <= kMaxPictureRanks) text += picture(schedule);
  for (int r = 0; r < static_cast<int>(schedule.ranks.size()); ++r)
    if (rank < 0 || rank == r) text += rank_text(schedule, r);
  return text;
}

}  // namespace weft::algorithms
