// Even blocks are arithmetic; the parts of a v-variant's spans come from the table of its blocks.
#include "comm/places.hpp"

#include <cstddef>

namespace weft::comm {
namespace {

constexpr std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kLandingUnit - 1) / kLandingUnit * kLandingUnit;
}

Base base_of(Space space) { return space == Space::Input ? Base::Input : Base::Output; }

}  // namespace

Places::Places(const Schedule& schedule, int rank, const Operation& operation)
    : layout_(layout_of(schedule)),
      rank_(rank),
      program_(schedule.ranks[static_cast<std::size_t>(rank)]),
      count_(operation.count),
      element_bytes_(size_of(operation.dtype)),
      slots_(program_.scratch.size(), kUnplaced) {
  if (operation.uneven) blocks_.emplace(operation, rank, schedule.size);
}

std::vector<Extent> Places::of(const Span& span) {
  if (span.space == Space::None) return {Extent()};
  if (span.space == Space::Scratch) return blocks_ ? uneven_scratch(span) : std::vector{even_scratch(span)};
  return blocks_ ? uneven_buffer(span) : std::vector{even_buffer(span)};
}

std::uint64_t Places::slot_offset(const Span& span) {
  std::uint64_t& offset = slots_[static_cast<std::size_t>(span.slot)];
  if (offset == kUnplaced) {
    offset = scratch_bytes_;
    const std::size_t pieces = slot(span).chunks.size();
    scratch_bytes_ += blocks_ ? uneven_bytes(slot(span), 0, pieces) : aligned(pieces_bytes(slot(span), 0, pieces));
  }
  return offset;
}

Extent Places::even_scratch(const Span& span) {
  const auto first = static_cast<std::size_t>(span.first);
  const auto last = first + static_cast<std::size_t>(span.count);
  const std::uint64_t offset = slot_offset(span) + pieces_bytes(slot(span), 0, first);
  return {Base::Scratch, offset, pieces_bytes(slot(span), first, last)};
}

Extent Places::even_buffer(const Span& span) const {
  const std::uint64_t begin = layout_.begin_element(span.first, count_);
  const std::uint64_t end = layout_.begin_element(span.first + span.count, count_);
  return {base_of(span.space), begin * element_bytes_, (end - begin) * element_bytes_};
}

std::uint64_t Places::pieces_bytes(const ScratchSlot& slot, std::size_t first, std::size_t last) const {
  std::uint64_t elements = 0;
  for (std::size_t piece = first; piece < last; ++piece) elements += layout_.elements(slot.chunks[piece], count_);
  return elements * element_bytes_;
}

// Of scratch, each piece begins on a landing unit.
std::uint64_t Places::uneven_bytes(const ScratchSlot& slot, std::size_t first, std::size_t last) const {
  std::uint64_t bytes = 0;
  for (std::size_t piece = first; piece < last; ++piece) {
    const int chunk = slot.chunks[piece];
    const std::uint64_t block = blocks_->count(chunk / layout_.chunks_per_block);
    bytes += aligned(layout_.elements(chunk, block) * element_bytes_);
  }
  return bytes;
}

std::vector<Extent> Places::uneven_scratch(const Span& span) {
  const ScratchSlot& pieces = slot(span);
  const auto first = static_cast<std::size_t>(span.first);
  std::uint64_t offset = slot_offset(span) + uneven_bytes(pieces, 0, first);
  std::vector<Extent> parts;
  for (std::size_t piece = first; piece < first + static_cast<std::size_t>(span.count); ++piece) {
    const int chunk = pieces.chunks[piece];
    const std::uint64_t block = blocks_->count(chunk / layout_.chunks_per_block);
    const std::uint64_t bytes = layout_.elements(chunk, block) * element_bytes_;
    parts.push_back({Base::Scratch, offset, bytes});
    offset += aligned(bytes);
  }
  return parts;
}

std::vector<Extent> Places::uneven_buffer(const Span& span) const {
  std::vector<Extent> parts;
  for (int local = span.first; local < span.first + span.count; ++local) {
    const bool input = span.space == Space::Input;
    const int chunk = input ? layout_.input_chunk(rank_, local) : layout_.output_chunk(rank_, local);
    const std::uint64_t block = blocks_->count(chunk / layout_.chunks_per_block);
    const std::uint64_t begin = blocks_->begin(span.space, local / layout_.chunks_per_block) +
                                layout_.begin_element(chunk % layout_.chunks_per_block, block);
    parts.push_back({base_of(span.space), begin * element_bytes_, layout_.elements(chunk, block) * element_bytes_});
  }
  return parts;
}

}  // namespace weft::comm
