// Even blocks are arithmetic; otherwise what is consecutive in one block is one part.
#include "comm/places.hpp"

#include <cstddef>

#include "base/assert.hpp"

namespace weft::comm {
namespace {

constexpr std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kLandingUnit - 1) / kLandingUnit * kLandingUnit;
}

Base base_of(Space space) { return space == Space::Input ? Base::Input : Base::Output; }

}  // namespace

Places::Places(const Schedule& schedule, int rank, const Operation& operation, const std::optional<Segment>& segment)
    : layout_(layout_of(schedule)),
      rank_(rank),
      program_(schedule.ranks[static_cast<std::size_t>(rank)]),
      count_(operation.count),
      element_bytes_(size_of(operation.dtype)),
      segment_(segment),
      parted_(operation.uneven || segment.has_value()),
      slots_(program_.scratch.size(), kUnplaced) {
  WEFT_ASSERT(!operation.uneven || !segment.has_value());
  if (operation.uneven) blocks_.emplace(operation, rank, schedule.size);
}

std::vector<Extent> Places::of(const Span& span) {
  if (span.space == Space::None) return {Extent()};
  if (span.space == Space::Scratch) return parted_ ? parts_of_scratch(span) : std::vector{even_scratch(span)};
  return parted_ ? parts_of_buffer(span) : std::vector{even_buffer(span)};
}

std::uint64_t Places::slot_offset(const Span& span) {
  std::uint64_t& offset = slots_[static_cast<std::size_t>(span.slot)];
  if (offset == kUnplaced) {
    offset = scratch_bytes_;
    const std::size_t pieces = slot(span).chunks.size();
    scratch_bytes_ += parted_ ? parts_bytes(slot(span), pieces) : aligned(pieces_bytes(slot(span), 0, pieces));
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

// Elements of a logical chunk.
std::uint64_t Places::elements(int chunk) const {
  if (blocks_) return layout_.elements(chunk, blocks_->count(chunk / layout_.chunks_per_block));
  const auto piece = static_cast<std::uint64_t>(chunk % layout_.chunks_per_block - segment_->first_chunk);
  const auto pieces = static_cast<std::uint64_t>(segment_->chunks);
  return (piece + 1) * segment_->elements / pieces - piece * segment_->elements / pieces;
}

// Where a local chunk begins, in elements from the start of its buffer.
std::uint64_t Places::begin(Space space, int local) const {
  const int block = local / layout_.chunks_per_block;
  const int piece = local % layout_.chunks_per_block;
  if (!blocks_) {
    const auto before = static_cast<std::uint64_t>(piece - segment_->first_chunk);
    return static_cast<std::uint64_t>(block) * count_ + segment_->begin +
           before * segment_->elements / static_cast<std::uint64_t>(segment_->chunks);
  }
  const int chunk = space == Space::Input ? layout_.input_chunk(rank_, local) : layout_.output_chunk(rank_, local);
  const std::uint64_t count = blocks_->count(chunk / layout_.chunks_per_block);
  return blocks_->begin(space, block) + layout_.begin_element(piece, count);
}

// Whether a logical chunk is the next one of the same block.
bool Places::follows(int chunk, int before) const {
  return chunk == before + 1 && chunk % layout_.chunks_per_block != 0;
}

bool Places::begins_part(const ScratchSlot& slot, std::size_t piece) const {
  return piece == 0 || !follows(slot.chunks[piece], slot.chunks[piece - 1]);
}

// Of the first pieces of a slot up to `end`, of which each part begins on a landing unit.
std::uint64_t Places::parts_bytes(const ScratchSlot& slot, std::size_t end) const {
  std::uint64_t bytes = 0;
  for (std::size_t piece = 0; piece < end; ++piece) {
    if (begins_part(slot, piece)) bytes = aligned(bytes);
    bytes += elements(slot.chunks[piece]) * element_bytes_;
  }
  return end == slot.chunks.size() || begins_part(slot, end) ? aligned(bytes) : bytes;
}

std::vector<Extent> Places::parts_of_scratch(const Span& span) {
  const ScratchSlot& pieces = slot(span);
  const auto first = static_cast<std::size_t>(span.first);
  const std::uint64_t slot_begin = slot_offset(span);
  std::vector<Extent> parts;
  for (std::size_t piece = first; piece < first + static_cast<std::size_t>(span.count); ++piece) {
    const std::uint64_t bytes = elements(pieces.chunks[piece]) * element_bytes_;
    if (piece == first || begins_part(pieces, piece))
      parts.push_back({Base::Scratch, slot_begin + parts_bytes(pieces, piece), bytes});
    else
      parts.back().bytes += bytes;
  }
  return parts;
}

std::vector<Extent> Places::parts_of_buffer(const Span& span) const {
  std::vector<Extent> parts;
  int before = -1;
  for (int local = span.first; local < span.first + span.count; ++local) {
    const bool input = span.space == Space::Input;
    const int chunk = input ? layout_.input_chunk(rank_, local) : layout_.output_chunk(rank_, local);
    const std::uint64_t bytes = elements(chunk) * element_bytes_;
    if (!parts.empty() && follows(chunk, before))
      parts.back().bytes += bytes;
    else
      parts.push_back({base_of(span.space), begin(span.space, local) * element_bytes_, bytes});
    before = chunk;
  }
  return parts;
}

}  // namespace weft::comm
