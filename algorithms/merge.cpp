// Merging scratch: virtual slots whose lives do not overlap become one. A life is a range of steps of one channel,
// whose steps are taken in order, so ranges that do not meet need no further care; but what was sent from a slot may
// still be under way.
#include <algorithm>
#include <cstddef>
#include <limits>

#include "algorithms/assemble.hpp"

namespace weft::algorithms {
namespace {

constexpr std::int32_t kNever = -1;

struct Life {
  std::int32_t first = kNever;  // positions in the channel
  std::int32_t last = kNever;
  std::int32_t first_move = 0;
  std::int32_t last_sent = std::numeric_limits<std::int32_t>::min();  // the latest move that sends from it
  bool only_landing = true;
};

template <typename Use>
void for_each_span(DraftStep& draft, Use&& use) {
  use(draft.step.dst, false);
  use(draft.step.src, false);
  use(draft.step.src2, false);
  use(draft.step.landing, true);
}

std::vector<Life> lives(Draft& draft) {
  std::vector<Life> result(draft.slots.size());
  for (auto& steps : draft.channels) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const DraftStep& step = steps[i];
      for_each_span(steps[i], [&](const Span& span, bool landing) {
        if (span.space != Space::Scratch) return;
        Life& life = result[static_cast<std::size_t>(span.slot)];
        if (life.first == kNever) {
          life.first = static_cast<std::int32_t>(i);
          life.first_move = step.move;
        }
        life.last = static_cast<std::int32_t>(i);
        if (!landing) life.only_landing = false;
        if (step.step.kind == StepKind::Send) life.last_sent = std::max(life.last_sent, step.move);
      });
    }
  }
  return result;
}

// Merges lives, channel by channel, in the order in which they begin.
class Merge {
 public:
  Merge(Draft& draft, SlotUse use, bool uneven)
      : draft_(draft), use_(use), uneven_(uneven), lives_(lives(draft)), target_(draft.slots.size(), -1) {}

  void run() {
    std::vector<std::int32_t> order;
    for (std::size_t slot = 0; slot < draft_.slots.size(); ++slot) order.push_back(static_cast<std::int32_t>(slot));
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return life(a).first < life(b).first; });
    for (const std::int32_t slot : order) {
      if (life(slot).first == kNever) continue;  // fused away
      if (draft_.slots[static_cast<std::size_t>(slot)].use != use_) {
        keep(slot);
      } else if (use_ == SlotUse::Message && life(slot).only_landing && !uneven_) {
        land(slot);
      } else {
        settle(slot);
      }
    }
    rename();
  }

 private:
  // A slot of the result, as its latest tenant leaves it.
  struct Merged {
    std::int32_t slot = 0;  // in result_
    std::int32_t last = 0;
    std::int32_t last_sent = 0;
    std::int32_t tenancy = 0;  // how many tenants the channel had when the latest came
  };

  const Life& life(std::int32_t slot) const { return lives_[static_cast<std::size_t>(slot)]; }

  std::int32_t keep(std::int32_t slot) {
    const auto kept = static_cast<std::int32_t>(result_.size());
    result_.push_back(draft_.slots[static_cast<std::size_t>(slot)]);
    target_[static_cast<std::size_t>(slot)] = kept;
    return kept;
  }

  // The last chunk of a block is never smaller than another, so n of it have room for any n chunks.
  void land(std::int32_t slot) {
    const DraftSlot& wanted = draft_.slots[static_cast<std::size_t>(slot)];
    const auto channel = static_cast<std::size_t>(wanted.channel);
    landings_.resize(draft_.channels.size(), -1);
    if (landings_[channel] < 0) {
      landings_[channel] = static_cast<std::int32_t>(result_.size());
      result_.push_back({{}, SlotUse::Message, wanted.channel});
    }
    auto& room = result_[static_cast<std::size_t>(landings_[channel])].chunks;
    room.resize(std::max(room.size(), wanted.chunks.size()), draft_.layout.chunks_per_block - 1);
    target_[static_cast<std::size_t>(slot)] = landings_[channel];
  }

  bool same_sizes(const DraftSlot& a, const DraftSlot& b) const {
    if (uneven_) return a.channel == b.channel && a.chunks == b.chunks;
    const int c = draft_.layout.chunks_per_block;
    return a.channel == b.channel && std::equal(a.chunks.begin(), a.chunks.end(), b.chunks.begin(), b.chunks.end(),
                                                [&](std::int32_t x, std::int32_t y) { return x % c == y % c; });
  }

  // The slot that has been free for longest. Not the one used just before: its send would have to be waited for at
  // once. And none that a later move sends from (hoisted above this one): waiting for it could deadlock.
  void settle(std::int32_t slot) {
    const Life& tenant = life(slot);
    const DraftSlot& wanted = draft_.slots[static_cast<std::size_t>(slot)];
    tenancies_.resize(draft_.channels.size(), 0);
    std::int32_t& tenancy = tenancies_[static_cast<std::size_t>(wanted.channel)];
    ++tenancy;
    Merged* best = nullptr;
    for (Merged& merged : merged_) {
      const bool free = merged.last < tenant.first && merged.last_sent < tenant.first_move;
      const bool rested = use_ == SlotUse::Message || tenancy - merged.tenancy >= 2;
      if (!free || !rested || !same_sizes(result_[static_cast<std::size_t>(merged.slot)], wanted)) continue;
      if (best == nullptr || merged.last < best->last) best = &merged;
    }
    if (best == nullptr) best = &merged_.emplace_back(Merged{.slot = keep(slot)});
    *best = {best->slot, tenant.last, tenant.last_sent, tenancy};
    target_[static_cast<std::size_t>(slot)] = best->slot;
  }

  void rename() {
    for (auto& steps : draft_.channels)
      for (DraftStep& step : steps)
        for_each_span(step, [&](Span& span, bool) {
          if (span.space == Space::Scratch) span.slot = target_[static_cast<std::size_t>(span.slot)];
        });
    draft_.slots = std::move(result_);
  }

  Draft& draft_;
  SlotUse use_;
  bool uneven_;
  std::vector<Life> lives_;
  std::vector<std::int32_t> target_;  // by old slot
  std::vector<DraftSlot> result_;
  std::vector<std::int32_t> landings_;   // by channel
  std::vector<std::int32_t> tenancies_;  // by channel
  std::vector<Merged> merged_;
};

}  // namespace

void merge_homes(Draft& draft, bool uneven) { Merge(draft, SlotUse::Home, uneven).run(); }
void merge_messages(Draft& draft, bool uneven) { Merge(draft, SlotUse::Message, uneven).run(); }

}  // namespace weft::algorithms
