// What each Step means, once. A reading of a schedule (proving it, simulating it) is a Domain: it says what values,
// places, messages and time are, and the machine does program order, lanes and blocking.
//
// A Domain provides, `at` naming the step that acts:
//   bool arrived(at, from)          a message lies at the front of the lane from rank `from` (same channel)
//   void take(at, step)             takes it, into step.landing (dst if there is none)
//   bool sent(at, index)            the send of step `index` of this channel no longer reads its source
//   void waited(at, index)          called once the machine has seen that
//   void send(at, src, to)          posts a message; never blocks
//   void receive(at, step)          dst = the message taken last
//   void receive_reduce(at, step)   dst = src op the message taken last
//   void copy(at, step)             dst = src
//   void reduce(at, step)           dst = src op src2
//   bool may_continue(at)           asked before each of the above; false stops the channel there
//                                   (an error, a busy core)
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/schedule.hpp"

namespace weft::algorithms {

inline bool sends(StepKind kind) {
  return kind == StepKind::Send || kind == StepKind::RecvSend || kind == StepKind::RecvReduceSend;
}
inline bool receives(StepKind kind) {
  return kind == StepKind::Recv || kind == StepKind::RecvReduce || kind == StepKind::RecvSend ||
         kind == StepKind::RecvReduceSend;
}

struct At {
  int rank = 0;
  int channel = 0;
  int index = 0;
};

// How far a channel has come. `taken`: the message of the step at `index` has been taken, its dst is not written yet.
struct Cursor {
  int index = 0;
  bool taken = false;
};

enum class Outcome : std::uint8_t { Finished, NeedsMessage, NeedsSend, Stopped };

// Executes steps of one channel of one rank until it ends or blocks. `moved` is set if anything happened.
template <typename Domain>
Outcome advance(const std::vector<Step>& steps, At at, Cursor& cursor, Domain& domain, bool& moved) {
  for (; cursor.index < static_cast<int>(steps.size()); ++cursor.index, moved = true) {
    const Step& step = steps[static_cast<std::size_t>(cursor.index)];
    at.index = cursor.index;
    if (!domain.may_continue(at)) return Outcome::Stopped;
    switch (step.kind) {
      case StepKind::Send:
        domain.send(at, step.src, step.peer);
        continue;
      case StepKind::Copy:
        domain.copy(at, step);
        continue;
      case StepKind::Reduce:
        domain.reduce(at, step);
        continue;
      case StepKind::Wait:
        if (!domain.sent(at, step.wait)) return Outcome::NeedsSend;
        domain.waited(at, step.wait);
        continue;
      case StepKind::Recv:
      case StepKind::RecvReduce:
      case StepKind::RecvSend:
      case StepKind::RecvReduceSend:
        break;
    }
    if (!cursor.taken) {
      if (!domain.arrived(at, step.peer)) return Outcome::NeedsMessage;
      domain.take(at, step);
      cursor.taken = true;
      moved = true;
      if (!domain.may_continue(at)) return Outcome::Stopped;
    }
    if (step.wait >= 0) {
      if (!domain.sent(at, step.wait)) return Outcome::NeedsSend;
      domain.waited(at, step.wait);
    }
    if (step.kind == StepKind::Recv || step.kind == StepKind::RecvSend) {
      domain.receive(at, step);
    } else {
      domain.receive_reduce(at, step);
    }
    if (step.kind == StepKind::RecvSend || step.kind == StepKind::RecvReduceSend) {
      if (!domain.may_continue(at)) return Outcome::Stopped;
      domain.send(at, step.dst, step.to);
    }
    cursor.taken = false;
  }
  return Outcome::Finished;
}

// All channels of all ranks in turn, until none moves any more. Returns where the channels that did not finish stand.
struct Stuck {
  At at;
  Outcome why = Outcome::Finished;
};

template <typename Domain>
std::vector<Stuck> run_to_the_end(const Schedule& schedule, Domain& domain) {
  struct Channel {
    At at;
    Cursor cursor;
    const std::vector<Step>* steps;
    Outcome outcome = Outcome::Stopped;
  };
  std::vector<Channel> live;
  for (int rank = 0; rank < schedule.size; ++rank) {
    const auto& channels = schedule.ranks[static_cast<std::size_t>(rank)].channels;
    for (int channel = 0; channel < static_cast<int>(channels.size()); ++channel)
      live.push_back({{rank, channel, 0}, {}, &channels[static_cast<std::size_t>(channel)]});
  }
  for (bool moved = true; moved && !live.empty();) {
    moved = false;
    std::size_t kept = 0;
    for (Channel& channel : live) {
      channel.outcome = advance(*channel.steps, channel.at, channel.cursor, domain, moved);
      if (channel.outcome != Outcome::Finished) live[kept++] = channel;
    }
    live.resize(kept);
  }
  std::vector<Stuck> stuck;
  for (Channel& channel : live) {
    channel.at.index = channel.cursor.index;
    stuck.push_back({channel.at, channel.outcome});
  }
  return stuck;
}

}  // namespace weft::algorithms
