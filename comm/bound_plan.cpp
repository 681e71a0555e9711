// Where each span of a schedule lies in bytes, and each channel's steps as instructions.
#include "comm/bound_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "comm/places.hpp"

namespace weft::comm {
namespace {

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

// A message of no bytes has nothing to reduce, and a barrier's plan no kernel.
InstructionCode without_reduction(InstructionCode code) {
  if (code == InstructionCode::RecvReduce) return InstructionCode::Recv;
  return code == InstructionCode::RecvReduceSend ? InstructionCode::RecvSend : code;
}

// Lowers one channel's steps. Remembers for every sending step how far its lane must have got for it to be complete.
class ChannelBinder {
 public:
  // `empty_messages`: those of no bytes are sent, too. `swapped`: by step; may be null.
  ChannelBinder(Places places, int channel, bool empty_messages, LaneDirectory& lanes, const std::vector<bool>* swapped)
      : places_(std::move(places)),
        channel_(channel),
        empty_messages_(empty_messages),
        lanes_(lanes),
        swapped_(swapped) {}

  BoundChannel bind(const std::vector<Step>& steps) {
    sent_.resize(steps.size());
    for (std::size_t index = 0; index < steps.size(); ++index) bind_step(steps[index], index);
    mark_several();
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
    instruction.swapped = swapped_ != nullptr && (*swapped_)[index];
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
    const std::vector<Extent> dst = places_.of(step.dst);
    const std::vector<Extent> src = places_.of(step.src);
    const std::vector<Extent> src2 = places_.of(step.src2);
    const std::vector<Extent> landing = places_.of(step.landing);
    const auto part_of = [](const std::vector<Extent>& extents, std::size_t part) {
      return part < extents.size() ? extents[part] : Extent();
    };
    const std::size_t parts = step.kind == StepKind::Send ? src.size() : dst.size();
    for (const auto& [span, extents] : {std::pair(&step.src, &src), {&step.src2, &src2}, {&step.landing, &landing}})
      WEFT_ASSERT(span->space == Space::None || extents->size() == parts);
    for (std::size_t part = 0; part < parts; ++part)
      cut(instruction, {part_of(dst, part), part_of(src, part), part_of(src2, part), part_of(landing, part)}, step,
          index);
  }

  struct Part {
    Extent dst;
    Extent src;
    Extent src2;
    Extent landing;
  };

  // One instruction per kMaxPiece of the part's bytes; both ends of a message cut alike.
  void cut(Instruction instruction, const Part& part, const Step& step, std::size_t index) {
    const bool lands = step.landing.space != Space::None;
    const std::uint64_t total = step.kind == StepKind::Send ? part.src.bytes : part.dst.bytes;
    const bool moves_message = step.peer >= 0 && empty_messages_;
    if (total == 0) instruction.code = without_reduction(instruction.code);
    instruction.dst_base = part.dst.base;
    instruction.src_base = part.src.base;
    instruction.src2_base = part.src2.base;
    for (std::uint64_t at = 0; at < total || (at == 0 && moves_message); at += kMaxPiece) {
      const std::uint64_t bytes = std::min(total - at, kMaxPiece);
      instruction.bytes = static_cast<std::uint32_t>(bytes);
      instruction.dst = (part.dst.offset + at) & kOffsetMask;
      instruction.src = (part.src.offset + at) & kOffsetMask;
      if (step.kind == StepKind::Reduce) {
        instruction.set_src2(part.src2.offset + at);
      } else {
        instruction.landing =
            lands ? static_cast<std::uint32_t>((part.landing.offset + at) / kLandingUnit) : kNoLanding;
        WEFT_ASSERT(!lands || part.landing.offset % kLandingUnit == 0);
      }
      note_sends(instruction, index, bytes);
      bound_.instructions.push_back(instruction);
    }
    if (moves_message && total > 0) end_message(step, index, total);
  }

  // Of a v-variant's message the length is known by its last slice, if that is shorter than the others: one whose
  // slices are all whole is followed by an empty one.
  void end_message(const Step& step, std::size_t index, std::uint64_t total) {
    const auto whole = [&](std::uint16_t lane) { return lanes_.slices(lane, total + 1) > lanes_.slices(lane, total); };
    Instruction end{};
    end.wait_lane = end.to_lane = kNoLane;
    end.landing = kNoLanding;
    const std::uint16_t out = step.kind == StepKind::Send ? use(step.peer) : step.to >= 0 ? use(step.to) : kNoLane;
    if (step.kind != StepKind::Send && whole(use(step.peer))) {
      end.code = InstructionCode::Recv;
      end.lane = use(step.peer);
      bound_.instructions.push_back(end);
    }
    if (out != kNoLane && whole(out)) {
      end.code = InstructionCode::Send;
      end.lane = out;
      note_sends(end, index, 0);
      bound_.instructions.push_back(end);
    }
  }

  void note_sends(const Instruction& instruction, std::size_t index, std::uint64_t bytes) {
    const std::uint16_t out = sends(instruction.code) ? instruction.lane : instruction.to_lane;
    if (out == kNoLane) return;
    const auto position = static_cast<std::size_t>(position_[out]);
    slices_[position] += lanes_.slices(out, bytes);
    ++bound_.messages[position];
    const bool from_scratch = (sends(instruction.code) ? instruction.src_base : instruction.dst_base) == Base::Scratch;
    bound_.sends_scratch = bound_.sends_scratch || from_scratch;
    sent_[index] = {out, slices_[position]};
  }

  // Finds what goes to several peers one after another.
  void mark_several() {
    std::vector<Instruction>& all = bound_.instructions;
    for (std::size_t at = 0; at + 1 < all.size();) {
      Instruction& first = all[at++];
      if (!sends_again(first, all[at])) continue;
      if (first.code == InstructionCode::Send)
        first.code = InstructionCode::SendToSeveral;
      else
        first.to_several = true;
      for (; at < all.size() && sends_again(first, all[at]); ++at) all[at].code = InstructionCode::SendAgain;
    }
  }

  // Whether `next` sends the bytes that `first` sends.
  bool sends_again(const Instruction& first, const Instruction& next) const {
    if (next.code != InstructionCode::Send || next.bytes != first.bytes) return false;
    if (first.bytes < kSharedBytes || lanes_.slices(next.lane, next.bytes) != 1) return false;
    if (sends(first.code)) return next.src_base == first.src_base && next.src == first.src;
    const bool forwards = first.code == InstructionCode::RecvSend || first.code == InstructionCode::RecvReduceSend;
    return forwards && next.src_base == first.dst_base && next.src == first.dst;
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

  // Shorter ones are as soon copied to each peer.
  static constexpr std::uint32_t kSharedBytes = 256;

  Places places_;
  int channel_;
  bool empty_messages_;
  LaneDirectory& lanes_;
  const std::vector<bool>* swapped_;
  BoundChannel bound_;
  std::vector<Sent> sent_;
  std::map<std::uint16_t, int> position_;  // lane -> position in bound_.lanes
  std::vector<std::uint32_t> slices_;      // by that position
};

// Of a call that reduces nothing.
transports::Traffic traffic_of(const std::vector<Instruction>& instructions) {
  bool in = false;
  bool out = false;
  for (const Instruction& instruction : instructions) {
    const bool forwards = instruction.code == InstructionCode::RecvSend;
    in = in || forwards || instruction.code == InstructionCode::Recv;
    out = out || forwards || sends(instruction.code);
  }
  return in && out ? transports::Traffic::BothWays : transports::Traffic::OneWay;
}

// Of a block that one replica does in one pass.
std::uint64_t most_elements(const Operation& operation, int chunks_per_block, const Passes& passes) {
  const std::uint64_t chunk_elements = passes.chunk_bytes / size_of(operation.dtype);
  if (operation.uneven || chunk_elements == 0) return ~std::uint64_t{0};
  return chunk_elements * static_cast<std::uint64_t>(chunks_per_block / passes.replicas);
}

// Binds a channel's steps, for all passes.
class PassBinder {
 public:
  PassBinder(const Schedule& schedule, int rank, const Operation& operation, LaneDirectory& lanes,
             const std::vector<std::vector<bool>>* swapped)
      : schedule_(schedule), rank_(rank), operation_(operation), lanes_(lanes), swapped_(swapped) {}

  BoundChannel bind(int channel, const Passes& passes) {
    const auto [begin, end] = part(channel, passes.replicas);
    const auto chunks = static_cast<std::uint64_t>(schedule_.chunks_per_block / passes.replicas);
    const std::uint64_t most = most_elements(operation_, schedule_.chunks_per_block, passes);
    if (end - begin <= most) return bind_pass(channel, std::nullopt);
    WEFT_ASSERT(schedule_.uneven);

    const std::uint64_t count = (end - begin + most - 1) / most;
    // Chunks that begin on cache lines, if the blocks do.
    const std::uint64_t unit = std::max<std::uint64_t>(1, chunks * kLandingUnit / size_of(operation_.dtype));
    const std::uint64_t elements = ((end - begin + count - 1) / count + unit - 1) / unit * unit;
    const std::uint64_t before_last = (end - begin - 1) / elements;
    if (before_last == 0) return bind_pass(channel, std::nullopt);
    Segment segment{first_chunk(channel, passes.replicas), static_cast<int>(chunks), begin, elements};
    BoundChannel bound = bind_pass(channel, segment);
    segment.elements = end - begin - before_last * elements;
    bound.last_instructions = bind_pass(channel, segment).instructions;
    bound.passes = static_cast<std::uint32_t>(before_last + 1);
    bound.pass_bytes = elements * size_of(operation_.dtype);
    return bound;
  }

 private:
  // Each replica has an equal part of the chunks of every block.
  int first_chunk(int channel, int replicas) const {
    return channel / (schedule_.channels / replicas) * (schedule_.chunks_per_block / replicas);
  }

  // The elements of a block that the channel's replica handles.
  std::pair<std::uint64_t, std::uint64_t> part(int channel, int replicas) const {
    const auto first = static_cast<std::uint64_t>(first_chunk(channel, replicas));
    const auto own = static_cast<std::uint64_t>(schedule_.chunks_per_block / replicas);
    const auto all = static_cast<std::uint64_t>(schedule_.chunks_per_block);
    return {first * operation_.count / all, (first + own) * operation_.count / all};
  }

  BoundChannel bind_pass(int channel, const std::optional<Segment>& segment) {
    // Where all counts are equal both ends know that a chunk is empty, so that only a barrier sends messages of no
    // bytes. In a v-variant they may be wrong about each other's counts, which only a message can tell.
    const bool empty_messages = operation_.collective == Collective::Barrier || operation_.uneven;
    ChannelBinder binder(Places(schedule_, rank_, operation_, segment), channel, empty_messages, lanes_,
                         swapped_ == nullptr ? nullptr : &(*swapped_)[static_cast<std::size_t>(channel)]);
    const RankProgram& program = schedule_.ranks[static_cast<std::size_t>(rank_)];
    BoundChannel bound = binder.bind(program.channels[static_cast<std::size_t>(channel)]);
    bound.traffic = reduces(operation_.collective) ? transports::Traffic::Reduced : traffic_of(bound.instructions);
    return bound;
  }

  const Schedule& schedule_;
  int rank_;
  const Operation& operation_;
  LaneDirectory& lanes_;
  const std::vector<std::vector<bool>>* swapped_;
};

}  // namespace

bool in_several_passes(const Operation& operation, int chunks_per_block, const Passes& passes) {
  const auto replicas = static_cast<std::uint64_t>(passes.replicas);
  const std::uint64_t longest_part = operation.count / replicas + (operation.count % replicas != 0 ? 1 : 0);
  return longest_part > most_elements(operation, chunks_per_block, passes);
}

BoundPlan bind(const Schedule& schedule, int rank, const Operation& operation, LaneDirectory& lanes,
               const Passes& passes, const std::vector<std::vector<bool>>* swapped) {
  BoundPlan plan;
  const std::size_t element_bytes = size_of(operation.dtype);
  WEFT_ASSERT(std::has_single_bit(element_bytes));
  plan.element_shift = static_cast<std::uint32_t>(std::countr_zero(element_bytes));
  const RankProgram& program = schedule.ranks[static_cast<std::size_t>(rank)];
  for (std::size_t channel = 0; channel < program.channels.size(); ++channel)
    plan.channels.push_back(
        PassBinder(schedule, rank, operation, lanes, swapped).bind(static_cast<int>(channel), passes));
  return plan;
}

}  // namespace weft::comm
