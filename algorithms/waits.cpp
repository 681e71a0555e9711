// Waits: before a step writes a place that a posted send may still be reading, it waits for exactly that send.
//
// A receive into such a place takes its message first, into a slot of its own, and waits then: in a symmetric exchange
// both sides would otherwise wait for the other to take what it was sent. A wait names a send of an earlier move only,
// or of the same move after all its messages were taken; as the moves can be executed one by one, no cycle of waits can
// arise.
#include <cstddef>
#include <map>

#include "algorithms/assemble.hpp"

namespace weft::algorithms {
namespace {

class WaitPass {
 public:
  WaitPass(Draft& draft, int channel)
      : draft_(draft), channel_(channel), cells_(draft), readers_(static_cast<std::size_t>(cells_.count()), -1) {}

  void run() {
    std::vector<DraftStep> steps = std::move(draft_.channels[static_cast<std::size_t>(channel_)]);
    result_.reserve(steps.size() + steps.size() / 2);
    for (const DraftStep& draft : steps) {
      if (draft.step.kind == StepKind::Send) {
        post(draft);
      } else {
        write(draft);
      }
    }
    draft_.channels[static_cast<std::size_t>(channel_)] = std::move(result_);
  }

 private:
  struct Posted {
    std::int32_t id = 0;
    std::int32_t peer = 0;
    std::int32_t ordinal = 0;  // on its lane
    std::int32_t next = -1;    // the next reader of the same cell
  };

  void post(const DraftStep& send) {
    const std::int32_t ordinal = posted_[send.step.peer]++;
    for (std::int32_t i = 0; i < send.step.src.count; ++i) {
      std::int32_t& head = readers_[static_cast<std::size_t>(cells_.of(send.step.src, i))];
      sends_.push_back({send.id, send.step.peer, ordinal, head});
      head = static_cast<std::int32_t>(sends_.size()) - 1;
    }
    result_.push_back(send);
  }

  // The unfinished sends that read `dst`: the last one of each lane. Forgets them, for they will be waited for.
  std::map<std::int32_t, Posted> unfinished(const Span& dst) {
    std::map<std::int32_t, Posted> last;
    for (std::int32_t i = 0; i < dst.count; ++i) {
      std::int32_t& head = readers_[static_cast<std::size_t>(cells_.of(dst, i))];
      for (; head >= 0; head = sends_[static_cast<std::size_t>(head)].next) {
        const Posted& send = sends_[static_cast<std::size_t>(head)];
        const auto done = done_.find(send.peer);
        if (done != done_.end() && done->second >= send.ordinal) continue;
        const auto [entry, added] = last.try_emplace(send.peer, send);
        if (!added && entry->second.ordinal < send.ordinal) entry->second = send;
      }
    }
    return last;
  }

  void write(const DraftStep& draft) {
    const auto last = unfinished(draft.step.dst);
    if (last.empty()) {
      result_.push_back(draft);
      return;
    }
    Span message;
    if (draft.step.kind == StepKind::Recv) {
      std::vector<std::int32_t> chunks;
      for (std::int32_t i = 0; i < draft.step.dst.count; ++i) chunks.push_back(draft_.chunk_at(draft.step.dst, i));
      message = draft_.whole(draft_.add_slot(std::move(chunks), SlotUse::Message, channel_));
      DraftStep receive = draft;
      receive.step.dst = message;
      result_.push_back(receive);
    }
    for (const auto& [peer, send] : last) {
      result_.push_back(draft_.make(channel_, draft.move, {.kind = StepKind::Wait, .wait = send.id}));
      done_[peer] = send.ordinal;
    }
    if (draft.step.kind == StepKind::Recv) {
      result_.push_back(
          draft_.make(channel_, draft.move, {.kind = StepKind::Copy, .dst = draft.step.dst, .src = message}));
    } else {
      result_.push_back(draft);
    }
  }

  Draft& draft_;
  int channel_;
  Cells cells_;
  std::vector<std::int32_t> readers_;  // by cell: head of the list of sends that read it
  std::vector<Posted> sends_;
  std::map<std::int32_t, std::int32_t> posted_;  // by peer: messages posted
  std::map<std::int32_t, std::int32_t> done_;    // by peer: the last ordinal waited for
  std::vector<DraftStep> result_;
};

}  // namespace

void derive_waits(Draft& draft) {
  for (int channel = 0; channel < static_cast<int>(draft.channels.size()); ++channel) WaitPass(draft, channel).run();
}

}  // namespace weft::algorithms
