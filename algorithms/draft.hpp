// Draft: one rank's steps while the passes work on them. Steps carry identities instead of indices, and scratch is
// virtual: as many slots as the lowering finds handy, merged by the passes.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/machine.hpp"
#include "weft/schedule.hpp"

namespace weft::algorithms {

struct DraftStep {
  Step step;              // `wait` holds the id of a sending step; scratch slots are virtual
  std::int32_t id = 0;    // unique in its channel, stays with the step
  std::int32_t move = 0;  // which move it belongs to; see Event
};

enum class SlotUse : std::uint8_t {
  Home,     // chunks live here, or are packed here to be sent
  Message,  // a message between its arrival and its use; never sent
};

struct DraftSlot {
  std::vector<std::int32_t> chunks;
  SlotUse use = SlotUse::Home;
  std::int32_t channel = 0;
};

struct Draft {
  Layout layout;
  int rank = 0;
  bool in_place = false;
  std::vector<std::vector<DraftStep>> channels;
  std::vector<DraftSlot> slots;
  std::vector<std::int32_t> next_id;  // by channel

  int add_slot(std::vector<std::int32_t> chunks, SlotUse use, int channel) {
    slots.push_back({std::move(chunks), use, channel});
    return static_cast<int>(slots.size()) - 1;
  }
  Span whole(int slot) const {
    return {Space::Scratch, slot, 0, static_cast<std::int32_t>(slots[static_cast<std::size_t>(slot)].chunks.size())};
  }
  DraftStep make(int channel, int move, const Step& step) {
    return {step, next_id[static_cast<std::size_t>(channel)]++, move};
  }
  // The logical chunk whose bytes a piece of a span has room for.
  std::int32_t chunk_at(const Span& span, int i) const;
};

// Numbers every piece of one rank's memory; a place that Input and Output share has one number.
class Cells {
 public:
  explicit Cells(const Draft& draft);
  int count() const { return count_; }
  int of(const Span& span, int i) const;

 private:
  std::vector<std::int32_t> input_;  // by local chunk
  std::vector<std::int32_t> slots_;  // first cell by slot
  int count_ = 0;
};

}  // namespace weft::algorithms
