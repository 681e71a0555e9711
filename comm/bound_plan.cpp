// Where each span of a schedule lies in bytes, and each channel's steps as instructions.
#include "comm/bound_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>

#include "base/assert.hpp"

namespace weft::comm {
namespace {

// A run of bytes in one of the operation's buffers.
struct Extent {
  Base base = Base::Input;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// Where the spans of one rank lie for a given element count. Scratch is laid out per channel, in the order of first
// use: channels run independently of each other, so each has scratch of its own.
class Places {
 public:
  Places(const Schedule& schedule, int rank, std::uint64_t count, std::uint64_t element_bytes)
      : layout_(layout_of(schedule)),
        program_(schedule.ranks[static_cast<std::size_t>(rank)]),
        count_(count),
        element_bytes_(element_bytes),
        slots_(program_.scratch.size(), kUnplaced) {}

  std::uint64_t scratch_bytes() const { return scratch_bytes_; }

  Extent of(const Span& span) {
    if (span.space == Space::None) return {};
    if (span.space == Space::Scratch) {
      const ScratchSlot& slot = program_.scratch[static_cast<std::size_t>(span.slot)];
      const auto first = static_cast<std::size_t>(span.first);
      return {Base::Scratch, slot_offset(static_cast<std::size_t>(span.slot)) + pieces_bytes(slot, 0, first),
              pieces_bytes(slot, first, first + static_cast<std::size_t>(span.count))};
    }
    const std::uint64_t begin = layout_.begin_element(span.first, count_);
    const std::uint64_t end = layout_.begin_element(span.first + span.count, count_);
    return {span.space == Space::Input ? Base::Input : Base::Output, begin * element_bytes_,
            (end - begin) * element_bytes_};
  }

 private:
  static constexpr std::uint64_t kUnplaced = ~std::uint64_t{0};

  std::uint64_t slot_offset(std::size_t index) {
    if (slots_[index] == kUnplaced) {
      const ScratchSlot& slot = program_.scratch[index];
      slots_[index] = scratch_bytes_;
      const std::uint64_t bytes = pieces_bytes(slot, 0, slot.chunks.size());
      scratch_bytes_ += (bytes + kLandingUnit - 1) / kLandingUnit * kLandingUnit;
    }
    return slots_[index];
  }

  std::uint64_t pieces_bytes(const ScratchSlot& slot, std::size_t first, std::size_t last) const {
    std::uint64_t elements = 0;
    for (std::size_t piece = first; piece < last; ++piece) elements += layout_.elements(slot.chunks[piece], count_);
    return elements * element_bytes_;
  }

  Layout layout_;
  const RankProgram& program_;
  std::uint64_t count_;
  std::uint64_t element_bytes_;
  std::vector<std::uint64_t> slots_;
  std::uint64_t scratch_bytes_ = 0;
};

InstructionCode code_of(StepKind kind) {
  switch (kind) {
    case StepKind::Send:
      return InstructionCode::Send;
    case StepKind::Recv:
      return InstructionCode::Recv;
    case StepKind::RecvReduce:
      return InstructionCode::RecvReduce;
    case StepKind::Copy:
      return InstructionCode::Copy;
    case StepKind::Reduce:
      return InstructionCode::Reduce;
    case StepKind::Wait:
      return InstructionCode::Wait;
    case StepKind::RecvSend:
      return InstructionCode::RecvSend;
    case StepKind::RecvReduceSend:
      return InstructionCode::RecvReduceSend;
  }
  WEFT_ASSERT(false);
  return InstructionCode::Wait;
}

// A barrier's message has nothing to reduce, and its plan no kernel.
InstructionCode without_reduction(InstructionCode code) {
  if (code == InstructionCode::RecvReduce) return InstructionCode::Recv;
  return code == InstructionCode::RecvReduceSend ? InstructionCode::RecvSend : code;
}

// Lowers one channel's steps. Remembers for every sending step how far its lane must have got for it to be complete.
class ChannelBinder {
 public:
  ChannelBinder(Places places, int channel, bool empty_messages, LaneDirectory& lanes)
      : places_(std::move(places)), channel_(channel), empty_messages_(empty_messages), lanes_(lanes) {}

  BoundChannel bind(const std::vector<Step>& steps) {
    sent_.resize(steps.size());
    for (std::size_t index = 0; index < steps.size(); ++index) bind_step(steps[index], index);
    bound_.scratch_bytes = places_.scratch_bytes();
    return std::move(bound_);
  }

 private:
  struct Sent {
    std::uint16_t lane = kNoLane;
    std::uint32_t slices = 0;  // counted from the operation's start
  };

  void bind_step(const Step& step, std::size_t index) {
    Instruction instruction{};
    instruction.code = code_of(step.kind);
    instruction.final_reduction = step.final_reduction;
    instruction.lane = kNoLane;
    instruction.wait_lane = kNoLane;
    instruction.to_lane = kNoLane;
    instruction.landing = kNoLanding;
    if (step.kind == StepKind::Wait) {
      const Sent& sent = sent_[static_cast<std::size_t>(step.wait)];
      if (sent.lane == kNoLane) return;
      instruction.lane = sent.lane;
      instruction.wait = sent.slices;
      bound_.instructions.push_back(instruction);
      return;
    }
    if (step.peer >= 0) instruction.lane = use(step.peer);
    if (step.to >= 0) instruction.to_lane = use(step.to);
    if (step.wait >= 0) {
      const Sent& sent = sent_[static_cast<std::size_t>(step.wait)];
      instruction.wait_lane = sent.lane;
      instruction.wait = sent.slices;
    }
    cut(instruction, step, index);
  }

  // One instruction per kMaxPiece of the step's bytes; both ends of a message cut alike.
  void cut(Instruction instruction, const Step& step, std::size_t index) {
    const Extent dst = places_.of(step.dst);
    const Extent src = places_.of(step.src);
    const Extent src2 = places_.of(step.src2);
    const Extent landing = places_.of(step.landing);
    const bool lands = step.landing.space != Space::None;
    const std::uint64_t total = step.kind == StepKind::Send ? src.bytes : dst.bytes;
    // Both ends know that a chunk is empty, so only a barrier sends messages of no bytes.
    const bool moves_message = step.peer >= 0 && empty_messages_;
    if (total == 0) instruction.code = without_reduction(instruction.code);
    instruction.dst_base = dst.base;
    instruction.src_base = src.base;
    instruction.src2_base = src2.base;
    for (std::uint64_t at = 0; at < total || (at == 0 && moves_message); at += kMaxPiece) {
      const std::uint64_t bytes = std::min(total - at, kMaxPiece);
      instruction.bytes = static_cast<std::uint32_t>(bytes);
      instruction.dst = (dst.offset + at) & kOffsetMask;
      instruction.src = (src.offset + at) & kOffsetMask;
      if (step.kind == StepKind::Reduce) {
        instruction.set_src2(src2.offset + at);
      } else {
        instruction.landing = lands ? static_cast<std::uint32_t>((landing.offset + at) / kLandingUnit) : kNoLanding;
        WEFT_ASSERT(!lands || landing.offset % kLandingUnit == 0);
      }
      note_sends(instruction, step, index, bytes);
      bound_.instructions.push_back(instruction);
    }
  }

  void note_sends(const Instruction& instruction, const Step& step, std::size_t index, std::uint64_t bytes) {
    const std::uint16_t out = step.kind == StepKind::Send ? instruction.lane : instruction.to_lane;
    if (out == kNoLane) return;
    const auto position = static_cast<std::size_t>(position_[out]);
    slices_[position] += lanes_.slices(out, bytes);
    ++bound_.messages[position];
    sent_[index] = {out, slices_[position]};
  }

  std::uint16_t use(int peer) {
    const std::uint16_t lane = lanes_.lane(peer, channel_);
    const auto [entry, added] = position_.try_emplace(lane, static_cast<int>(bound_.lanes.size()));
    if (added) {
      bound_.lanes.push_back(lane);
      bound_.messages.push_back(0);
      slices_.push_back(0);
    }
    return lane;
  }

  static constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << 48) - 1;

  Places places_;
  int channel_;
  bool empty_messages_;
  LaneDirectory& lanes_;
  BoundChannel bound_;
  std::vector<Sent> sent_;
  std::map<std::uint16_t, int> position_;  // lane -> position in bound_.lanes
  std::vector<std::uint32_t> slices_;      // by that position
};

}  // namespace

BoundPlan bind(const Schedule& schedule, int rank, const Operation& operation, LaneDirectory& lanes) {
  BoundPlan plan;
  const std::size_t element_bytes = size_of(operation.dtype);
  WEFT_ASSERT(std::has_single_bit(element_bytes));
  plan.element_shift = static_cast<std::uint32_t>(std::countr_zero(element_bytes));
  const Places places(schedule, rank, operation.count, element_bytes);
  const RankProgram& program = schedule.ranks[static_cast<std::size_t>(rank)];
  for (std::size_t channel = 0; channel < program.channels.size(); ++channel) {
    ChannelBinder binder(places, static_cast<int>(channel), operation.collective == Collective::Barrier, lanes);
    plan.channels.push_back(binder.bind(program.channels[channel]));
  }
  return plan;
}

}  // namespace weft::comm
