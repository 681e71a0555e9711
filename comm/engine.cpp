#include "comm/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/assert.hpp"
#include "base/copy_bytes.hpp"

namespace weft::comm {

void Engine::Arena::Free::operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{64}); }

Status Engine::Channel::reserve_scratch(std::uint64_t bytes) {
  if (current == nullptr && arenas.size() > 1) arenas.erase(arenas.begin(), arenas.end() - 1);
  if (bytes == 0 || (!arenas.empty() && arenas.back().bytes >= bytes)) return {};
  Arena arena;
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
  }
  return {};
}

bool Engine::advance() {
  moved_ = false;
  for (std::size_t index = 0; index < channels_.size(); ++index) {
    while (advance(index)) {
    }
  }
  return moved_;
}

// Runs a channel as far as it goes. True if it ended an operation and another may begin.
bool Engine::advance(std::size_t index) {
  Channel& channel = channels_[index];
  if (channel.current == nullptr) {
    if (channel.queue.empty()) return false;
    begin(channel, index, *channel.queue.pop());
  }
  while (channel.next != channel.end) {
    if (!execute(channel, *channel.next)) {
      for (const std::uint16_t lane : channel.program->lanes) {
        if (!lanes_[lane]->queue_empty()) lanes_[lane]->pump(channel.current->signature);
      }
      return false;
    }
    moved_ = true;
    ++channel.next;
  }
  if (!drained(channel)) return false;
  finish(channel);
  return true;
}

void Engine::begin(Channel& channel, std::size_t index, ActiveOperation& operation) {
  channel.current = &operation;
  channel.program = &operation.plan->channels[index];
  channel.next = channel.program->instructions.data();
  channel.end = channel.next + channel.program->instructions.size();
  // Input is never written: the only destinations are Output and scratch.
  channel.bases = {const_cast<std::byte*>(operation.in), operation.out,
                   channel.arenas.empty() ? nullptr : channel.arenas.back().memory.get()};
  channel.done = 0;
  channel.lent = nullptr;
  channel.offered = nullptr;
  channel.receiving = false;
  for (const std::uint16_t lane : channel.program->lanes) lanes_[lane]->mark();
}

// False: it cannot be finished now; called again later, it goes on where it was.
bool Engine::execute(Channel& channel, const Instruction& instruction) {
  const ActiveOperation& operation = *channel.current;
  switch (instruction.code) {
    case InstructionCode::Send:
      lanes_[instruction.lane]->send(channel.at(instruction.src_base, instruction.src), instruction.bytes,
                                     operation.signature);
      return true;
    case InstructionCode::Recv:
      return receive(channel, instruction, false, false);
    case InstructionCode::RecvReduce:
      return receive(channel, instruction, true, false);
    case InstructionCode::RecvSend:
      return receive(channel, instruction, false, true);
    case InstructionCode::RecvReduceSend:
      return receive(channel, instruction, true, true);
    case InstructionCode::Copy:
    case InstructionCode::Reduce:
      local(channel, instruction);
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
  kernel(dst, src, channel.at(instruction.src2_base, instruction.src2()), instruction.bytes / plan.element_bytes,
         plan.size);
}

// Slice by slice: take the message (where it already is, or into what we offer), wait if dst is still being sent, write
// dst, give the message back, and let a fused send follow. The message is taken before the wait, never after: see Step.
bool Engine::receive(Channel& channel, const Instruction& instruction, bool reduces, bool forwards) {
  const ActiveOperation& operation = *channel.current;
  const BoundPlan& plan = *operation.plan;
  Lane& in = *lanes_[instruction.lane];
  std::byte* const dst = channel.at(instruction.dst_base, instruction.dst);
  Lane* const out = forwards ? lanes_[instruction.to_lane].get() : nullptr;
  if (forwards && !channel.receiving) out->push(dst, instruction.bytes, 0);

  for (;;) {
    const std::size_t slice = std::min<std::size_t>(instruction.bytes - channel.done, in.slice());
    const bool writable = instruction.wait_lane == kNoLane || lanes_[instruction.wait_lane]->sent(instruction.wait);
    if (channel.lent == nullptr) {
      if (!channel.receiving || channel.offered == nullptr) {
        channel.receiving = true;
        const bool lands_in_place = !reduces && (writable || instruction.landing == kNoLanding);
        channel.offered = lands_in_place
                              ? dst + channel.done
                              : channel.at(Base::Scratch, std::uint64_t{instruction.landing} * 64 + channel.done);
      }
      channel.lent = static_cast<const std::byte*>(in.endpoint().receive(slice, channel.offered, operation.signature));
      if (channel.lent == nullptr) return false;
      moved_ = true;
    }
    if (!writable) return false;
    std::byte* const target = dst + channel.done;
    if (reduces) {
      const ReduceKernel kernel = instruction.final_reduction ? plan.reduce_final : plan.reduce;
      kernel(target, channel.at(instruction.src_base, instruction.src) + channel.done, channel.lent,
             slice / plan.element_bytes, plan.size);
    } else if (channel.lent != target && slice > 0) {
      base::copy_bytes(target, channel.lent, slice);
    }
    in.endpoint().release();
    channel.lent = nullptr;
    channel.offered = nullptr;
    channel.done += slice;
    if (forwards) {
      out->extend(slice);
      out->pump(operation.signature);
    }
    if (channel.done == instruction.bytes) {
      channel.done = 0;
      channel.receiving = false;
      return true;
    }
  }
}

bool Engine::drained(Channel& channel) {
  bool all = true;
  for (const std::uint16_t index : channel.program->lanes) {
    Lane& lane = *lanes_[index];
    if (!lane.queue_empty()) lane.pump(channel.current->signature);
    all = lane.all_sent() && all;
  }
  return all;
}

void Engine::finish(Channel& channel) {
  ActiveOperation& operation = *channel.current;
  channel.current = nullptr;
  moved_ = true;
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
    entry.steps = channel.program->instructions.size();
    entry.step = entry.steps - static_cast<std::size_t>(channel.end - channel.next);
    bool named = false;
    if (channel.next != channel.end && channel.lent == nullptr) {
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

void Engine::cancel(int deadline_ms) {
  for (auto& lane : lanes_) lane->endpoint().cancel(deadline_ms);
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
