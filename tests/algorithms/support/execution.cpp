// Steps, memory and lanes worked out anew, without any of the code that is judged.
#include "tests/algorithms/support/execution.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft::test {
namespace {

constexpr std::uint64_t kFinalFactor = 0x9e3779b97f4a7c15ULL;  // stands for the division of an average

}  // namespace

Execution::Execution(const Schedule& schedule, const Trial& trial)
    : schedule_(schedule), trial_(trial), random_(trial.seed), ranks_(static_cast<std::size_t>(schedule.size)) {
  for (int rank = 0; rank < schedule.size; ++rank) {
    lay_out(rank);
    const auto& channels = schedule.ranks[static_cast<std::size_t>(rank)].channels;
    for (int channel = 0; channel < static_cast<int>(channels.size()); ++channel) {
      Channel& entry = channels_.emplace_back();
      entry.rank = rank;
      entry.channel = channel;
    }
  }
}

std::size_t Execution::input_blocks(int rank) const {
  const auto size = static_cast<std::size_t>(schedule_.size);
  switch (schedule_.collective) {
    case Collective::ReduceScatter:
    case Collective::AllToAll:
      return size;
    case Collective::Broadcast:
      return rank == schedule_.root ? 1 : 0;
    case Collective::Scatter:
      return rank == schedule_.root ? size : 0;
    default:
      return 1;
  }
}

std::size_t Execution::output_blocks(int rank) const {
  const auto size = static_cast<std::size_t>(schedule_.size);
  switch (schedule_.collective) {
    case Collective::AllGather:
    case Collective::AllToAll:
      return size;
    case Collective::Reduce:
      return rank == schedule_.root ? 1 : 0;
    case Collective::Gather:
      return rank == schedule_.root ? size : 0;
    default:
      return 1;
  }
}

std::size_t Execution::chunk_begin(std::size_t chunk) const {
  const auto per_block = static_cast<std::size_t>(schedule_.chunks_per_block);
  const auto n = static_cast<std::size_t>(trial_.elements);
  return chunk / per_block * n + chunk % per_block * n / per_block;
}

// One array per rank; in place, the smaller of Input and Output is a part of the other as Operation's rules have it.
void Execution::lay_out(int rank) {
  const RankProgram& program = schedule_.ranks[static_cast<std::size_t>(rank)];
  Rank& state = ranks_[static_cast<std::size_t>(rank)];
  const auto n = static_cast<std::size_t>(trial_.elements);
  const std::size_t inputs = input_blocks(rank) * n;
  const std::size_t outputs = output_blocks(rank) * n;
  const std::size_t own = static_cast<std::size_t>(rank) * n;
  std::size_t end = inputs + outputs;
  state.output = inputs;
  if (program.in_place && inputs > 0 && outputs > 0) {
    const bool same = input_blocks(rank) == output_blocks(rank);
    state.input = same || inputs > outputs ? 0 : own;
    state.output = same || inputs < outputs ? 0 : own;
    end = std::max(inputs, outputs);
    // One rank has equal blocks in all collectives, and block 0 is its own.
  }
  for (const ScratchSlot& slot : program.scratch) {
    state.slots.push_back(end);
    for (const int chunk : slot.chunks)
      if (chunk >= 0) end += chunk_size(static_cast<std::size_t>(chunk));
  }
  state.memory.resize(end);
  for (std::uint64_t& element : state.memory) element = random_();
  for (std::size_t i = 0; i < inputs; ++i) {
    state.memory[state.input + i] = input_value(rank, i);
    state.initial_input.push_back(input_value(rank, i));
  }
}

std::uint64_t Execution::contribution(int rank, std::uint64_t element) const {
  if (schedule_.collective == Collective::Barrier) return std::uint64_t{1} << rank;
  std::uint64_t x = (static_cast<std::uint64_t>(rank) << 40) + element + 1;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Elements are numbered over the whole logical buffer: by sender and receiver in all_to_all, by owner in the gathers.
std::uint64_t Execution::input_value(int rank, std::size_t element) const {
  const auto n = static_cast<std::uint64_t>(trial_.elements);
  const auto own = static_cast<std::uint64_t>(rank);
  switch (schedule_.collective) {
    case Collective::AllGather:
    case Collective::Gather:
      return contribution(rank, own * n + element);
    case Collective::AllToAll:
      return contribution(rank, own * static_cast<std::uint64_t>(schedule_.size) * n + element);
    default:
      return contribution(rank, element);
  }
}

std::uint64_t Execution::combine(std::uint64_t a, std::uint64_t b, bool final_reduction) const {
  if (schedule_.collective == Collective::Barrier) return a | b;
  return final_reduction ? (a + b) * kFinalFactor : a + b;
}

bool Execution::fail(const std::string& what) {
  if (failure_.empty()) failure_ = what;
  return false;
}

std::optional<Execution::Range> Execution::locate(int rank, const Span& span) {
  const Rank& state = ranks_[static_cast<std::size_t>(rank)];
  const auto per_block = static_cast<std::size_t>(schedule_.chunks_per_block);
  const auto first = static_cast<std::size_t>(span.first);
  const auto end = first + static_cast<std::size_t>(span.count);
  if (span.first < 0 || span.count < 0) return std::nullopt;
  if (span.space == Space::Input || span.space == Space::Output) {
    const bool input = span.space == Space::Input;
    if (end > (input ? input_blocks(rank) : output_blocks(rank)) * per_block) return std::nullopt;
    return Range{(input ? state.input : state.output) + chunk_begin(first), chunk_begin(end) - chunk_begin(first)};
  }
  const auto& scratch = schedule_.ranks[static_cast<std::size_t>(rank)].scratch;
  if (span.space != Space::Scratch || span.slot < 0 || static_cast<std::size_t>(span.slot) >= scratch.size())
    return std::nullopt;
  const auto& chunks = scratch[static_cast<std::size_t>(span.slot)].chunks;
  if (end > chunks.size()) return std::nullopt;
  Range range{state.slots[static_cast<std::size_t>(span.slot)], 0};
  for (std::size_t i = 0; i < end; ++i)
    (i < first ? range.begin : range.size) += chunk_size(static_cast<std::size_t>(chunks[i]));
  return range;
}

void Execution::read_source(Message& message) {
  const auto& memory = ranks_[static_cast<std::size_t>(message.rank)].memory;
  const auto begin = memory.begin() + static_cast<std::ptrdiff_t>(message.source.begin);
  message.data.assign(begin, begin + static_cast<std::ptrdiff_t>(message.source.size));
  message.read = true;
}

// The transport reads the next source ahead of its receiver, as far as it has slots.
bool Execution::pump(Lane& lane) {
  if (trial_.slots >= 0 && lane.held >= trial_.slots) return false;
  for (Message& message : lane.waiting) {
    if (message.read) continue;
    read_source(message);
    ++lane.held;
    ++lane.done;
    return true;
  }
  return false;
}

bool Execution::send(Channel& channel, const Span& span, int to) {
  const auto source = locate(channel.rank, span);
  if (!source || to < 0 || to >= schedule_.size) return fail("a send out of bounds");
  Lane& lane = lanes_[{channel.rank, to, channel.channel}];
  channel.sends[channel.next] = {&lane, lane.posted++};
  lane.waiting.push_back({channel.rank, *source, false, {}});
  return true;
}

bool Execution::send_done(const Channel& channel, int step) {
  const auto send = channel.sends.find(static_cast<std::size_t>(step));
  if (step < 0 || send == channel.sends.end()) return fail("a wait for a step that sent nothing");
  return send->second.first->done > send->second.second;
}

bool Execution::copy(Channel& channel, const Step& step) {
  const auto dst = locate(channel.rank, step.dst);
  const auto src = locate(channel.rank, step.src);
  if (!dst || !src || dst->size != src->size) return fail("a copy of other sizes or out of bounds");
  auto& memory = ranks_[static_cast<std::size_t>(channel.rank)].memory;
  for (std::size_t i = 0; i < dst->size; ++i) memory[dst->begin + i] = memory[src->begin + i];
  return true;
}

bool Execution::reduce(Channel& channel, const Step& step) {
  const auto dst = locate(channel.rank, step.dst);
  const auto a = locate(channel.rank, step.src);
  const auto b = locate(channel.rank, step.src2);
  if (!dst || !a || !b || dst->size != a->size || dst->size != b->size)
    return fail("a reduction of other sizes or out of bounds");
  auto& memory = ranks_[static_cast<std::size_t>(channel.rank)].memory;
  for (std::size_t i = 0; i < dst->size; ++i)
    memory[dst->begin + i] = combine(memory[a->begin + i], memory[b->begin + i], step.final_reduction);
  return true;
}

// Takes the message if it is there (lent, or put into the landing, as the coin falls); later honours the wait; then
// writes.
bool Execution::receive(Channel& channel, const Step& step) {
  auto& memory = ranks_[static_cast<std::size_t>(channel.rank)].memory;
  const auto dst = locate(channel.rank, step.dst);
  if (!dst) return fail("a receive out of bounds");
  if (!channel.taken) {
    Lane& lane = lanes_[{step.peer, channel.rank, channel.channel}];
    if (lane.waiting.empty()) return false;
    Message& front = lane.waiting.front();
    if (front.read) {
      --lane.held;
    } else {
      read_source(front);
      ++lane.done;
    }
    channel.message = std::move(front);
    lane.waiting.pop_front();
    channel.taken = true;
    if (channel.message.data.size() != dst->size) return fail("a message of another size than expected");
    const auto landing = step.landing.space == Space::None ? dst : locate(channel.rank, step.landing);
    if (!landing || landing->size < dst->size) return fail("a landing out of bounds or too small");
    if (step.landing.space == Space::None &&
        (step.wait >= 0 || step.kind == StepKind::RecvReduce || step.kind == StepKind::RecvReduceSend)) {
      return fail("no landing where one is needed");
    }
    if (coin()) {
      for (std::size_t i = 0; i < dst->size; ++i) memory[landing->begin + i] = channel.message.data[i];
      channel.message.source = *landing;
    } else {
      channel.message.read = false;  // lent: `data` is where it is
    }
    return true;
  }
  if (step.wait >= 0 && !send_done(channel, step.wait)) return false;
  const bool landed = channel.message.read;
  const bool reduces = step.kind == StepKind::RecvReduce || step.kind == StepKind::RecvReduceSend;
  const auto src = reduces ? locate(channel.rank, step.src) : dst;
  if (!src || src->size != dst->size) return fail("an operand of another size or out of bounds");
  for (std::size_t i = 0; i < dst->size; ++i) {
    const std::uint64_t value = landed ? memory[channel.message.source.begin + i] : channel.message.data[i];
    memory[dst->begin + i] = reduces ? combine(memory[src->begin + i], value, step.final_reduction) : value;
  }
  if (step.kind == StepKind::RecvSend || step.kind == StepKind::RecvReduceSend)
    if (!send(channel, step.dst, step.to)) return false;
  channel.taken = false;
  ++channel.next;
  return true;
}

// One small action of a channel; false if there is none to take.
bool Execution::step(Channel& channel) {
  const auto& steps =
      schedule_.ranks[static_cast<std::size_t>(channel.rank)].channels[static_cast<std::size_t>(channel.channel)];
  if (channel.next >= steps.size()) return false;
  const Step& step = steps[channel.next];
  bool acted = false;
  switch (step.kind) {
    case StepKind::Send:
      acted = send(channel, step.src, step.peer);
      break;
    case StepKind::Copy:
      acted = copy(channel, step);
      break;
    case StepKind::Reduce:
      acted = reduce(channel, step);
      break;
    case StepKind::Wait:
      acted = send_done(channel, step.wait);
      break;
    default:
      return receive(channel, step);
  }
  if (acted) ++channel.next;
  return acted;
}

std::string Execution::run() {
  for (bool certain = false, moved = true; failure_.empty();) {
    moved = false;
    std::shuffle(channels_.begin(), channels_.end(), random_);
    for (auto& [ends, lane] : lanes_)
      if (certain || coin()) moved = pump(lane) || moved;
    for (Channel& channel : channels_)
      for (int burst = 0; burst < 3 && failure_.empty() && (certain || coin()); ++burst) moved = step(channel) || moved;
    if (!moved && certain) break;
    certain = !moved;
  }
  return failure_.empty() ? check_results() : failure_;
}

std::string Execution::check_results() const {
  for (const Channel& channel : channels_) {
    const auto& program = schedule_.ranks[static_cast<std::size_t>(channel.rank)];
    if (channel.next < program.channels[static_cast<std::size_t>(channel.channel)].size())
      return fmt::format("rank {} hangs in step {} of channel {}", channel.rank, channel.next, channel.channel);
  }
  for (const auto& [ends, lane] : lanes_)
    if (!lane.waiting.empty()) return "a message is left over";
  const auto n = static_cast<std::size_t>(trial_.elements);
  const auto size = static_cast<std::uint64_t>(schedule_.size);
  for (int r = 0; r < schedule_.size; ++r) {
    const Rank& state = ranks_[static_cast<std::size_t>(r)];
    const auto own = static_cast<std::uint64_t>(r);
    for (std::size_t i = 0; i < output_blocks(r) * n; ++i) {
      const std::uint64_t block = i / n;
      std::uint64_t expected = 0;
      switch (schedule_.collective) {
        case Collective::AllReduce:
        case Collective::Reduce:
        case Collective::ReduceScatter: {
          const std::uint64_t element = schedule_.collective == Collective::ReduceScatter ? own * n + i : i;
          for (int other = 0; other < schedule_.size; ++other) expected += contribution(other, element);
          if (size > 1) expected *= kFinalFactor;
          break;
        }
        case Collective::Barrier:
          expected = (std::uint64_t{1} << size) - 1;
          break;
        case Collective::AllGather:
        case Collective::Gather:
          expected = contribution(static_cast<int>(block), i);
          break;
        case Collective::Broadcast:
          expected = contribution(schedule_.root, i);
          break;
        case Collective::Scatter:
          expected = contribution(schedule_.root, own * n + i);
          break;
        case Collective::AllToAll:
          expected = contribution(static_cast<int>(block), (block * size + own) * n + i % n);
          break;
      }
      if (state.memory[state.output + i] != expected) return fmt::format("rank {} has a wrong output element {}", r, i);
    }
    const bool aliased = schedule_.ranks[static_cast<std::size_t>(r)].in_place;
    for (std::size_t i = 0; i < state.initial_input.size() && !aliased; ++i)
      if (state.memory[state.input + i] != state.initial_input[i])
        return fmt::format("rank {}: its input was changed", r);
  }
  return "";
}

}  // namespace weft::test
