// Every check of a single step, and cells of memory as numbers.
#include "algorithms/verify_form.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "algorithms/step_fields.hpp"

namespace weft::algorithms {
namespace {

constexpr int kMaxChannels = 1 << 16;
constexpr std::int64_t kMaxCells = std::int64_t{1} << 26;  // of all ranks: what is larger is refused, not proved

bool reduces_message(StepKind kind) { return kind == StepKind::RecvReduce || kind == StepKind::RecvReduceSend; }

std::string text(const Span& span) {
  const std::string slot = span.space == Space::Scratch ? fmt::format("{}", span.slot) : "";
  return fmt::format("{}{}[{}..{})", to_string(span.space), slot, span.first, std::int64_t{span.first} + span.count);
}

// Checks the steps of one rank.
class RankForm {
 public:
  RankForm(const Schedule& schedule, int rank) : schedule_(schedule), rank_(rank), memory_(schedule, rank) {}

  std::string fault(const std::vector<Step>& steps, int index) const {
    const Step& step = steps[static_cast<std::size_t>(index)];
    if (static_cast<int>(step.kind) > static_cast<int>(StepKind::RecvReduceSend)) return "is of no known kind";
    if (const std::string_view field = surplus_field(step); !field.empty())
      return fmt::format("has \"{}\", of which a {} makes no use; leave it out", field, to_string(step.kind));
    if (step.kind == StepKind::Wait) return wait_fault(steps, index, step.wait);
    if (step.kind == StepKind::Send) return first_of({peer_fault(step.peer), span_fault("src", step.src)});
    const StepFields fields = fields_of(step.kind);
    std::string fault = span_fault("dst", step.dst);
    if (fault.empty() && step.dst.space == Space::Input) fault = "writes to Input";
    if (fault.empty() && fields.peer) fault = receive_fault(steps, index);
    if (fault.empty() && fields.src) fault = operand_fault("src", step.src, step.dst);
    if (fault.empty() && fields.src2) fault = operand_fault("src2", step.src2, step.dst);
    if (fault.empty() && fields.to) fault = peer_fault(step.to);
    return fault;
  }

 private:
  static std::string first_of(std::initializer_list<std::string> faults) {
    for (const std::string& fault : faults)
      if (!fault.empty()) return fault;
    return "";
  }

  std::string peer_fault(int peer) const {
    if (peer < 0 || peer >= schedule_.size) return fmt::format("names rank {}, of {} ranks", peer, schedule_.size);
    return peer == rank_ ? "exchanges a message with itself" : "";
  }

  std::string span_fault(std::string_view name, const Span& span) const {
    const std::string fault = memory_.fault(span);
    return fault.empty() ? "" : fmt::format("{} {} {}", name, text(span), fault);
  }

  std::string wait_fault(const std::vector<Step>& steps, int index, int wait) const {
    if (wait < 0 || wait >= index) return fmt::format("waits for step {}, which is not an earlier one", wait);
    return sends(steps[static_cast<std::size_t>(wait)].kind)
               ? ""
               : fmt::format("waits for step {}, which sends nothing", wait);
  }

  std::string receive_fault(const std::vector<Step>& steps, int index) const {
    const Step& step = steps[static_cast<std::size_t>(index)];
    std::string fault = peer_fault(step.peer);
    if (fault.empty() && step.wait != -1) fault = wait_fault(steps, index, step.wait);
    if (!fault.empty()) return fault;
    if (step.landing == Span()) {
      if (reduces_message(step.kind)) return "reduces a message without a landing for it";
      return step.wait >= 0 ? "waits before it writes dst, but has no other landing for its message" : "";
    }
    return landing_fault(step);
  }

  std::string landing_fault(const Step& step) const {
    if (step.landing.space != Space::Scratch) return "has a landing that is not scratch";
    std::string fault = span_fault("landing", step.landing);
    if (!fault.empty()) return fault;
    if (step.landing.first != 0) return "has a landing that does not begin its slot; give it a slot of its own";
    if (step.landing.count < step.dst.count) return "has a landing smaller than dst";
    if (schedule_.uneven && step.landing.count > step.dst.count)
      return "has a landing larger than dst, in a schedule for blocks of unequal lengths";
    const int largest = schedule_.uneven ? -1 : schedule_.chunks_per_block - 1;  // -1: which is not known
    for (int i = 0; i < step.dst.count; ++i) {
      const int room = memory_.size_class(step.landing, i);
      if (room != largest && room != memory_.size_class(step.dst, i))
        return "has a landing that may be smaller than dst";
    }
    return overlap(step.landing, step.dst, false) ? "has a landing that overlaps dst" : "";
  }

  // An operand has dst's sizes and is either the same memory or none of it.
  std::string operand_fault(std::string_view name, const Span& operand, const Span& dst) const {
    std::string fault = span_fault(name, operand);
    if (!fault.empty()) return fault;
    if (operand.count != dst.count)
      return fmt::format("has {} {} and dst {} of different lengths", name, text(operand), text(dst));
    for (int i = 0; i < dst.count; ++i)
      if (memory_.size_class(operand, i) != memory_.size_class(dst, i))
        return fmt::format("has {} {} and dst {} of different sizes", name, text(operand), text(dst));
    return overlap(operand, dst, true)
               ? fmt::format("has {} {} that overlaps dst {} shifted", name, text(operand), text(dst))
               : "";
  }

  // dst is Output or scratch, so its cells are consecutive.
  bool overlap(const Span& a, const Span& dst, bool same_is_fine) const {
    const int first = memory_.cell(dst, 0);
    for (int i = 0; i < a.count; ++i) {
      const int distance = memory_.cell(a, i) - first;
      if (distance >= 0 && distance < dst.count && !(same_is_fine && distance == i)) return true;
    }
    return false;
  }

  const Schedule& schedule_;
  int rank_;
  Memory memory_;
};

Status corrupt(std::string message) { return {Code::Corrupt, std::move(message)}; }

Status check_numbers(const Schedule& schedule) {
  if (static_cast<int>(schedule.collective) >= kCollectives) return corrupt("the collective is none that exists");
  if (schedule.size < 1 || schedule.ranks.size() != static_cast<std::size_t>(schedule.size))
    return corrupt(
        fmt::format("the schedule is for {} ranks and has programs for {}", schedule.size, schedule.ranks.size()));
  if (schedule.root < 0 || schedule.root >= schedule.size)
    return corrupt(fmt::format("root {} is not among {} ranks", schedule.root, schedule.size));
  if (schedule.channels < 1 || schedule.chunks_per_block < 1)
    return corrupt("the numbers of channels and of chunks per block must be at least 1");
  if (schedule.channels > kMaxChannels)
    return corrupt(fmt::format("{} channels are too many to prove", schedule.channels));
  // all_to_all has the most chunks: size * size blocks; and the most memory: 2 * size chunks per rank, like others.
  const std::int64_t size = schedule.size;
  if (size > kMaxCells || size * size > kMaxCells || size * size * schedule.chunks_per_block > kMaxCells * 8)
    return corrupt(
        fmt::format("{} ranks with {} chunks per block are too many to prove", size, schedule.chunks_per_block));
  return {};
}

Status check_memory(const Schedule& schedule) {
  const Layout layout = layout_of(schedule);
  std::int64_t cells = 0;
  for (int rank = 0; rank < schedule.size; ++rank) {
    const RankProgram& program = schedule.ranks[static_cast<std::size_t>(rank)];
    if (program.channels.size() != static_cast<std::size_t>(schedule.channels))
      return corrupt(
          fmt::format("rank {} has {} channels, the schedule {}", rank, program.channels.size(), schedule.channels));
    cells += layout.input_chunks(rank) + layout.output_chunks(rank);
    for (const ScratchSlot& slot : program.scratch) {
      cells += static_cast<std::int64_t>(slot.chunks.size());
      for (const int chunk : slot.chunks)
        if (chunk < 0 || chunk >= layout.chunks())
          return corrupt(fmt::format("rank {} has scratch for chunk {}, of {} chunks", rank, chunk, layout.chunks()));
    }
  }
  if (cells > kMaxCells) return corrupt(fmt::format("{} pieces of memory are too many to prove", cells));
  return {};
}

}  // namespace

Memory::Memory(const Schedule& schedule, int rank)
    : program_(&schedule.ranks[static_cast<std::size_t>(rank)]),
      layout_(layout_of(schedule)),
      rank_(rank),
      uneven_(schedule.uneven) {
  inputs_ = layout_.input_chunks(rank);
  outputs_ = layout_.output_chunks(rank);
  count_ = outputs_;
  for (int local = 0; local < inputs_; ++local) {
    const int shared = program_->in_place ? layout_.aliased_output(rank, local) : -1;
    input_cells_.push_back(shared >= 0 ? shared : count_++);
  }
  for (const ScratchSlot& slot : program_->scratch) {
    slot_cells_.push_back(count_);
    count_ += static_cast<int>(slot.chunks.size());
  }
}

int Memory::cell(const Span& span, int i) const {
  switch (span.space) {
    case Space::Input:
      return input_cells_[static_cast<std::size_t>(span.first + i)];
    case Space::Scratch:
      return slot_cells_[static_cast<std::size_t>(span.slot)] + span.first + i;
    default:
      return span.first + i;
  }
}

int Memory::size_class(const Span& span, int i) const {
  const int at = span.first + i;
  int chunk = at;
  if (span.space == Space::Scratch) {
    chunk = program_->scratch[static_cast<std::size_t>(span.slot)].chunks[static_cast<std::size_t>(at)];
  } else if (uneven_) {
    chunk = span.space == Space::Input ? layout_.input_chunk(rank_, at) : layout_.output_chunk(rank_, at);
  }
  return uneven_ ? chunk : chunk % layout_.chunks_per_block;
}

std::string Memory::fault(const Span& span) const {
  if (span.space != Space::Scratch && span.space != Space::None && span.slot != 0)
    return "is in a slot, which only scratch has";
  std::int64_t room = 0;
  switch (span.space) {
    case Space::Input:
      room = inputs_;
      break;
    case Space::Output:
      room = outputs_;
      break;
    case Space::Scratch:
      if (span.slot < 0 || static_cast<std::size_t>(span.slot) >= program_->scratch.size())
        return "is in a slot that does not exist";
      room = static_cast<std::int64_t>(program_->scratch[static_cast<std::size_t>(span.slot)].chunks.size());
      break;
    default:
      return "is missing";
  }
  if (span.first < 0 || span.count < 1 || std::int64_t{span.first} + span.count > room)
    return fmt::format("is out of bounds: there are {} chunks", room);
  return "";
}

Status check_form(const Schedule& schedule) {
  WEFT_TRY(check_numbers(schedule));
  WEFT_TRY(check_memory(schedule));
  for (int rank = 0; rank < schedule.size; ++rank) {
    const RankForm form(schedule, rank);
    const auto& channels = schedule.ranks[static_cast<std::size_t>(rank)].channels;
    for (int channel = 0; channel < schedule.channels; ++channel) {
      const auto& steps = channels[static_cast<std::size_t>(channel)];
      for (int index = 0; index < static_cast<int>(steps.size()); ++index) {
        const std::string fault = form.fault(steps, index);
        if (!fault.empty()) return corrupt(fmt::format("{} {}", describe(schedule, {rank, channel, index}), fault));
      }
    }
  }
  return {};
}

std::string describe(const Schedule& schedule, const At& at) {
  const auto& steps = schedule.ranks[static_cast<std::size_t>(at.rank)].channels[static_cast<std::size_t>(at.channel)];
  const Step& step = steps[static_cast<std::size_t>(at.index)];
  std::string what(to_string(step.kind));
  if (step.kind == StepKind::Send) what += fmt::format(" to rank {}", step.peer);
  if (receives(step.kind)) what += fmt::format(" from rank {}", step.peer);
  if (receives(step.kind) && sends(step.kind)) what += fmt::format(" to rank {}", step.to);
  return fmt::format("rank {}, channel {}, step {} ({})", at.rank, at.channel, at.index, what);
}

}  // namespace weft::algorithms
