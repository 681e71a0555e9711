// The switch over instructions, and how a message is taken: at once, or slice by slice.
#include "comm/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "base/copy_bytes.hpp"
#include "base/deadline.hpp"
#include "comm/write_move.hpp"
#include "transports/fan_out.hpp"

namespace weft::comm {

void Engine::Arena::Free::operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{64}); }

Status Engine::Channel::reserve_scratch(std::uint64_t bytes) {
  if (current == nullptr && arenas.size() > 1) arenas.erase(arenas.begin(), arenas.end() - 1);
  if (bytes == 0 || (!arenas.empty() && arenas.back().bytes >= bytes)) return {};
  Arena arena;
  if (bytes <= kMaxScratch)
    arena.memory.reset(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}, std::nothrow)));
  if (arena.memory == nullptr) {
    return Status(
        Code::ResourceExhausted,
        fmt::format("no memory for {} bytes of scratch; choose an algorithm that needs less (weft-schedule show) or "
                    "split the call",
                    bytes));
  }
  arena.bytes = bytes;
  arenas.push_back(std::move(arena));
  return {};
}

std::uint16_t Engine::add_lane(std::unique_ptr<transports::Endpoint> endpoint, int peer, std::size_t slice) {
  WEFT_ASSERT(lanes_.size() < kNoLane);
  lanes_.push_back(std::make_unique<Lane>(std::move(endpoint), peer, slice));
  return static_cast<std::uint16_t>(lanes_.size() - 1);
}

Status Engine::prepare(const BoundPlan& plan) {
  if (channels_.size() < plan.channels.size()) channels_.resize(plan.channels.size());
  for (std::size_t index = 0; index < plan.channels.size(); ++index) {
    const BoundChannel& channel = plan.channels[index];
    WEFT_TRY(channels_[index].reserve_scratch(channel.scratch_bytes));
    for (std::size_t i = 0; i < channel.lanes.size(); ++i) lanes_[channel.lanes[i]]->reserve(channel.messages[i]);
    share_lanes(channel.instructions);
    share_lanes(channel.last_instructions);
  }
  return {};
}

void Engine::share_lanes(const std::vector<Instruction>& instructions) {
  for (const Instruction& instruction : instructions) {
    if (instruction.code == InstructionCode::SendToSeveral || instruction.code == InstructionCode::SendAgain)
      lanes_[instruction.lane]->share();
    else if (instruction.to_several)
      lanes_[instruction.to_lane]->share();
  }
}

bool Engine::advance() {
  const std::uint64_t before = movements_;
  for (std::size_t index = 0; index < channels_.size(); ++index) {
    while (advance(index)) {
    }
  }
  return movements_ != before;
}

// Runs a channel as far as it goes. True if it ended an operation and another may begin.
bool Engine::advance(std::size_t index) {
  Channel& channel = channels_[index];
  if (channel.current == nullptr) {
    if (channel.queue.empty()) return false;
    begin(channel, index, *channel.queue.pop());
  }
  for (;;) {
    while (channel.next != channel.end) {
      if (!execute(channel, *channel.next)) {
        for (const std::uint16_t lane : channel.program->lanes) {
          if (!lanes_[lane]->queue_empty()) lanes_[lane]->pump(channel.current->signature);
        }
        return false;
      }
      ++movements_;
      ++channel.next;
    }
    if (!drained(channel)) return false;
    if (channel.passes_left == 0) break;
    --channel.passes_left;
    for (const Base base : {Base::Input, Base::Output})
      if (std::byte*& at = channel.bases[static_cast<std::size_t>(base)]; at != nullptr)
        at += channel.program->pass_bytes;
    begin_pass(channel);
  }
  finish(channel);
  return true;
}

void Engine::begin(Channel& channel, std::size_t index, ActiveOperation& operation) {
  channel.current = &operation;
  channel.program = &operation.plan->channels[index];
  // Input is never written: the only destinations are Output and scratch.
  channel.bases = {const_cast<std::byte*>(operation.in), operation.out,
                   channel.arenas.empty() ? nullptr : channel.arenas.back().memory.get()};
  channel.passes_left = channel.program->passes - 1;
  begin_pass(channel);
}

void Engine::begin_pass(Channel& channel) {
  const std::vector<Instruction>& instructions = channel.program->of_pass(channel.passes_left == 0);
  channel.next = instructions.data();
  channel.end = channel.next + instructions.size();
  channel.done = 0;
  channel.taken = 0;
  channel.offered = nullptr;
  channel.receiving = channel.whole = false;
  channel.shared = nullptr;
  for (const std::uint16_t lane : channel.program->lanes) lanes_[lane]->mark(channel.program->traffic);
}

// False: it cannot be finished now; called again later, it goes on where it was.
bool Engine::execute(Channel& channel, const Instruction& instruction) {
  const ActiveOperation& operation = *channel.current;
  switch (instruction.code) {
    case InstructionCode::Send:
      lanes_[instruction.lane]->send(channel.at(instruction.src_base, instruction.src), instruction.bytes,
                                     operation.signature);
      return true;
    case InstructionCode::SendToSeveral:
    case InstructionCode::SendAgain:
      send_shared(channel, instruction);
      return true;
    case InstructionCode::Recv:
      return receive(channel, instruction, false);
    case InstructionCode::RecvReduce:
      return receive(channel, instruction, false);
    case InstructionCode::RecvSend:
      return receive(channel, instruction, true);
    case InstructionCode::RecvReduceSend:
      return receive(channel, instruction, true);
    case InstructionCode::Copy:
    case InstructionCode::Reduce:
      local(channel, instruction);
      return true;
    case InstructionCode::Pack:
    case InstructionCode::Unpack:
    case InstructionCode::SumPacked:
      quantise(channel, instruction);
      return true;
    case InstructionCode::Wait: {
      Lane& lane = *lanes_[instruction.lane];
      if (!lane.queue_empty()) lane.pump(operation.signature);
      return lane.sent(instruction.wait);
    }
  }
  return true;
}

void Engine::local(const Channel& channel, const Instruction& instruction) {
  const ActiveOperation& operation = *channel.current;
  const BoundPlan& plan = *operation.plan;
  std::byte* dst = channel.at(instruction.dst_base, instruction.dst);
  const std::byte* src = channel.at(instruction.src_base, instruction.src);
  if (instruction.code == InstructionCode::Copy) {
    base::copy_bytes(dst, src, instruction.bytes);
    return;
  }
  const ReduceKernel kernel = instruction.final_reduction ? plan.reduce_final : plan.reduce;
  const std::byte* src2 = channel.at(instruction.src2_base, instruction.src2());
  if (instruction.swapped) [[unlikely]]
    std::swap(src, src2);
  kernel(dst, src, src2, instruction.bytes >> plan.element_shift, plan.parameter);
}

// What goes to several peers is put once where all of them read it; into each lane's own slot where that cannot be.
void Engine::send_shared(Channel& channel, const Instruction& instruction) {
  Lane& lane = *lanes_[instruction.lane];
  const std::byte* const src = channel.at(instruction.src_base, instruction.src);
  if (instruction.code == InstructionCode::SendToSeveral) {
    channel.shared = nullptr;
    if (std::byte* const slot = shared_slot(channel, lane, src, instruction.bytes); slot != nullptr)
      lane.fan_out()->fill(slot, src, instruction.bytes);
  }
  hand_over(channel, lane, src, instruction.bytes);
}

// A message that waits for room waits where it came from: the shared slot is not its own.
void Engine::hand_over(const Channel& channel, Lane& lane, const std::byte* src, std::size_t bytes) {
  const transports::Signature& signature = channel.current->signature;
  const bool shared = channel.shared != nullptr && lane.fan_out() == channel.shared_by;
  if (!shared || !lane.post(channel.shared, bytes, signature)) lane.send(src, bytes, signature);
}

// The place for bytes that go to several peers, of whom `lane` leads to the first; null: there is none.
std::byte* Engine::shared_slot(Channel& channel, Lane& lane, const std::byte* src, std::size_t bytes) {
  channel.shared_by = lane.fan_out();
  if (channel.shared_by == nullptr || bytes > lane.slice() || lane.refers(src, bytes)) return nullptr;
  std::byte* const slot = lane.fan_out()->acquire();
  channel.shared = slot;
  return slot;
}

void Engine::quantise(const Channel& channel, const Instruction& instruction) {
  const BoundPlan& plan = *channel.current->plan;
  const QuantisedParts& parts = plan.quantised;
  std::byte* const dst = channel.at(instruction.dst_base, instruction.dst);
  const std::byte* const src = channel.at(instruction.src_base, instruction.src);
  if (instruction.code == InstructionCode::Pack) {
    parts.kernels.pack(dst, instruction.extra(), src, instruction.bytes >> plan.element_shift);
  } else if (instruction.code == InstructionCode::Unpack) {
    parts.kernels.unpack(dst, src, instruction.bytes >> plan.element_shift);
  } else {
    const SumOrder order{parts.joins.data(), parts.joins.size(), parts.divisor};
    parts.kernels.sum(dst, instruction.bytes / kPackedBlockBytes, src, instruction.extra(), order);
  }
}

bool Engine::receive(Channel& channel, const Instruction& instruction, bool forwards) {
  // What was begun by slices is ended by slices.
  if (!channel.receiving && instruction.bytes <= lanes_[instruction.lane]->slice() &&
      (instruction.wait_lane == kNoLane || lanes_[instruction.wait_lane]->sent(instruction.wait)))
    return receive_at_once(channel, instruction, forwards);
  return receive_by_slices(channel, instruction, forwards);
}

// The usual case: the message is one slice, and dst may be written.
bool Engine::receive_at_once(Channel& channel, const Instruction& instruction, bool forwards) {
  const transports::Signature& signature = channel.current->signature;
  transports::Endpoint& in = lanes_[instruction.lane]->endpoint();
  if (channel.offered == nullptr) channel.offered = offer(channel, instruction, true);
  const auto* lent = static_cast<const std::byte*>(in.receive(instruction.bytes, channel.offered, signature));
  if (lent == nullptr) return false;
  if (forwards) {
    Lane& out = *lanes_[instruction.to_lane];
    const std::byte* const dst = channel.at(instruction.dst_base, instruction.dst);
    const transports::Stage stage = this->stage(channel, instruction, out);
    put(channel, instruction, lent, 0, instruction.bytes, stage);
    if (channel.shared != nullptr)
      hand_over(channel, out, dst, instruction.bytes);
    else
      out.send(stage.place != nullptr ? static_cast<std::byte*>(stage.place) : dst, instruction.bytes, signature);
  } else {
    put(channel, instruction, lent, 0, instruction.bytes, {});
  }
  in.release();
  channel.offered = nullptr;
  return true;
}

// Where a message that is sent on is written besides dst.
transports::Stage Engine::stage(Channel& channel, const Instruction& instruction, Lane& out) {
  const std::byte* const dst = channel.at(instruction.dst_base, instruction.dst);
  channel.shared = nullptr;
  if (instruction.to_several && out.queue_empty()) {
    std::byte* const slot = shared_slot(channel, out, dst, instruction.bytes);
    if (slot != nullptr) return {slot, out.fan_out()->far()};
  }
  return out.stage(instruction.bytes, dst);
}

// Slice by slice: take the message where it already is, or into what we offer, write dst, and let a fused send follow.
//
// The message is taken even while dst must not be written because a send still reads it; it then waits in scratch. Were
// it left in the lane, the peer's send could not end, nor then ours if the peer does the same: both would wait for
// ever.
bool Engine::receive_by_slices(Channel& channel, const Instruction& instruction, bool forwards) {
  const ActiveOperation& operation = *channel.current;
  Lane& in = *lanes_[instruction.lane];
  if (!channel.receiving) {
    channel.receiving = true;
    channel.shared = nullptr;
    if (forwards && instruction.bytes > 0)
      lanes_[instruction.to_lane]->push(channel.at(instruction.dst_base, instruction.dst), instruction.bytes, 0);
  }
  for (;;) {
    const bool writable = instruction.wait_lane == kNoLane || lanes_[instruction.wait_lane]->sent(instruction.wait);
    if (writable && channel.done < channel.taken) {
      write(channel, instruction, landing(channel, instruction) + channel.done, channel.taken - channel.done, forwards);
    }
    if (channel.whole) {
      if (channel.done < channel.taken) return false;
      forward_empty(channel, instruction, forwards);
      channel.done = channel.taken = 0;
      channel.receiving = channel.whole = false;
      return true;
    }
    const std::size_t slice = std::min<std::size_t>(instruction.bytes - channel.taken, in.slice());
    if (channel.offered == nullptr) channel.offered = offer(channel, instruction, writable);
    const auto* lent =
        static_cast<const std::byte*>(in.endpoint().receive(slice, channel.offered, operation.signature));
    if (lent == nullptr) return false;
    ++movements_;
    if (writable) {
      write(channel, instruction, lent, slice, forwards);
    } else if (std::byte* const kept = landing(channel, instruction) + channel.taken; lent != kept) {
      base::copy_bytes(kept, lent, slice);
    }
    in.endpoint().release();
    channel.offered = nullptr;
    channel.taken += slice;
    channel.whole = channel.taken == instruction.bytes;
  }
}

// A message of no bytes has no first slice behind which it could follow: it is sent once the one before it has come.
void Engine::forward_empty(const Channel& channel, const Instruction& instruction, bool forwards) {
  if (!forwards || instruction.bytes > 0) return;
  const std::byte* const dst = channel.at(instruction.dst_base, instruction.dst);
  lanes_[instruction.to_lane]->send(dst, 0, channel.current->signature);
}

std::byte* Engine::landing(const Channel& channel, const Instruction& instruction) {
  WEFT_ASSERT(instruction.landing != kNoLanding);
  return channel.at(Base::Scratch, std::uint64_t{instruction.landing} * kLandingUnit);
}

// Where the next slice may be put if it is not here yet. A copy that may be written lands where it belongs.
std::byte* Engine::offer(const Channel& channel, const Instruction& instruction, bool writable) {
  const bool copies = instruction.code == InstructionCode::Recv || instruction.code == InstructionCode::RecvSend;
  if (copies && writable) return channel.at(instruction.dst_base, instruction.dst) + channel.taken;
  return landing(channel, instruction) + channel.taken;
}

// The next `bytes` of dst from the same bytes of the message.
void Engine::write(Channel& channel, const Instruction& instruction, const std::byte* message, std::size_t bytes,
                   bool forwards) {
  put(channel, instruction, message, channel.done, bytes, {});
  channel.done += bytes;
  if (!forwards || bytes == 0) return;
  Lane& out = *lanes_[instruction.to_lane];
  out.extend(bytes);
  out.pump(channel.current->signature);
}

// `bytes` of dst from `done` on, from those of the message; and the same into the stage, if there is one.
void Engine::put(const Channel& channel, const Instruction& instruction, const std::byte* message, std::size_t done,
                 std::size_t bytes, transports::Stage stage) {
  const BoundPlan& plan = *channel.current->plan;
  std::byte* const dst = channel.at(instruction.dst_base, instruction.dst) + done;
  const bool reduces =
      instruction.code == InstructionCode::RecvReduce || instruction.code == InstructionCode::RecvReduceSend;
  const bool streaming = plan.streaming && instruction.dst_base == Base::Output;
  const std::byte* src = nullptr;
  ReduceKernel kernel = nullptr;
  if (reduces) {
    src = channel.at(instruction.src_base, instruction.src) + done;
    kernel = instruction.final_reduction ? plan.reduce_final : plan.reduce;
    if (instruction.swapped) [[unlikely]]
      std::swap(src, message);
    if (stage.place == nullptr && !streaming)
      return kernel(dst, src, message, bytes >> plan.element_shift, plan.parameter);
  }
  write_move({dst, src, message, stage, bytes, kernel, plan.element_shift, plan.parameter, streaming});
}

// Whether the channel may go on behind its last step. Where another pass follows, that writes other parts of Output and
// none of Input: the peers may still be reading those that were sent from there.
bool Engine::drained(Channel& channel) {
  const bool handed_over = channel.passes_left > 0 && !channel.program->sends_scratch;
  bool all = true;
  for (const std::uint16_t index : channel.program->lanes) {
    Lane& lane = *lanes_[index];
    if (!lane.queue_empty()) lane.pump(channel.current->signature);
    all = (handed_over ? lane.queue_empty() : lane.all_sent()) && all;
  }
  return all;
}

void Engine::finish(Channel& channel) {
  ActiveOperation& operation = *channel.current;
  channel.current = nullptr;
  ++movements_;
  if (--operation.channels_left == 0) {
    --operation.plan->in_flight;
    --running_;
  }
}

void Engine::blocked(std::vector<Blocked>* out) const {
  out->clear();
  for (std::size_t index = 0; index < channels_.size(); ++index) {
    const Channel& channel = channels_[index];
    if (channel.current == nullptr) continue;
    Blocked entry;
    entry.channel = static_cast<int>(index);
    entry.operation = channel.current;
    entry.steps = channel.program->of_pass(channel.passes_left == 0).size();
    entry.step = entry.steps - static_cast<std::size_t>(channel.end - channel.next);
    bool named = false;
    if (channel.next != channel.end && !channel.whole) {
      entry.lane = channel.next->lane;
      entry.sending = channel.next->code == InstructionCode::Wait;
      entry.peer = lanes_[entry.lane]->peer();
      out->push_back(entry);
      named = true;
    }
    for (const std::uint16_t lane : channel.program->lanes) {
      if (lanes_[lane]->all_sent() || lane == entry.lane) continue;
      entry.lane = lane;
      entry.sending = true;
      entry.peer = lanes_[lane]->peer();
      out->push_back(entry);
      named = true;
    }
    if (!named) out->push_back(entry);
  }
}

std::uint64_t Engine::scratch_bytes() const {
  std::uint64_t bytes = 0;
  for (const Channel& channel : channels_)
    for (const Arena& arena : channel.arenas) bytes += arena.bytes;
  return bytes;
}

void Engine::cancel(int deadline_ms) {
  const auto deadline = base::Deadline::after_ms(deadline_ms);
  for (auto& lane : lanes_) lane->endpoint().cancel(deadline.remaining_ms());
  for (Channel& channel : channels_) {
    while (!channel.queue.empty()) {
      ActiveOperation& operation = *channel.queue.pop();
      --operation.channels_left;
      if (operation.channels_left == 0) --operation.plan->in_flight;
    }
    if (channel.current == nullptr) continue;
    ActiveOperation& operation = *channel.current;
    channel.current = nullptr;
    if (--operation.channels_left == 0) --operation.plan->in_flight;
  }
  running_ = 0;
}

}  // namespace weft::comm
