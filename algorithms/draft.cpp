// Which chunk a span of a draft holds, and numbers for all places that a draft names.
#include "algorithms/draft.hpp"

#include "base/assert.hpp"

namespace weft::algorithms {

std::int32_t Draft::chunk_at(const Span& span, int i) const {
  switch (span.space) {
    case Space::Input:
      return layout.input_chunk(rank, span.first + i);
    case Space::Output:
      return layout.output_chunk(rank, span.first + i);
    case Space::Scratch:
      return slots[static_cast<std::size_t>(span.slot)].chunks[static_cast<std::size_t>(span.first + i)];
    case Space::None:
      break;
  }
  return -1;
}

Cells::Cells(const Draft& draft) {
  const Layout& layout = draft.layout;
  const int inputs = layout.input_chunks(draft.rank);
  count_ = layout.output_chunks(draft.rank);
  input_.reserve(static_cast<std::size_t>(inputs));
  for (int local = 0; local < inputs; ++local) {
    const int shared = draft.in_place ? layout.aliased_output(draft.rank, local) : -1;
    input_.push_back(shared >= 0 ? shared : count_++);
  }
  slots_.reserve(draft.slots.size());
  for (const DraftSlot& slot : draft.slots) {
    slots_.push_back(count_);
    count_ += static_cast<int>(slot.chunks.size());
  }
}

int Cells::of(const Span& span, int i) const {
  switch (span.space) {
    case Space::Input:
      return input_[static_cast<std::size_t>(span.first + i)];
    case Space::Output:
      return span.first + i;
    case Space::Scratch:
      return slots_[static_cast<std::size_t>(span.slot)] + span.first + i;
    case Space::None:
      break;
  }
  WEFT_ASSERT(false && "a span without a space has no cells");
  return -1;
}

}  // namespace weft::algorithms
