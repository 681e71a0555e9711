// Places: where the spans of a schedule lie in one rank's buffers, in bytes, for a given call.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "comm/blocks.hpp"
#include "comm/instruction.hpp"
#include "weft/operation.hpp"
#include "weft/schedule.hpp"

namespace weft::comm {

// A run of bytes in one of the operation's buffers.
struct Extent {
  Base base = Base::Input;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// A part of every block: that of a replica's elements which one pass over its steps handles. The chunks of the replica,
// `chunks` of each block from `first_chunk` on, are equal parts of it.
struct Segment {
  int first_chunk = 0;
  int chunks = 1;
  std::uint64_t begin = 0;  // in elements of the block
  std::uint64_t elements = 0;
};

// Scratch is laid out in the order of first use: channels run independently of each other, so each has Places, and
// scratch, of its own.
class Places final {
 public:
  // `schedule` outlives the places. Without a segment blocks are whole; those of a v-variant always are.
  Places(const Schedule& schedule, int rank, const Operation& operation,
         const std::optional<Segment>& segment = std::nullopt);

  // The parts of a span, at least one. A span is one part; but in a v-variant, and of a segment, its chunks of each
  // block are, because these may lie apart: so spans of the same chunks have the same parts.
  std::vector<Extent> of(const Span& span);

  std::uint64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  static constexpr std::uint64_t kUnplaced = ~std::uint64_t{0};

  const ScratchSlot& slot(const Span& span) const { return program_.scratch[static_cast<std::size_t>(span.slot)]; }
  std::uint64_t slot_offset(const Span& span);
  Extent even_scratch(const Span& span);
  Extent even_buffer(const Span& span) const;
  std::vector<Extent> parts_of_scratch(const Span& span);
  std::vector<Extent> parts_of_buffer(const Span& span) const;
  std::uint64_t pieces_bytes(const ScratchSlot& slot, std::size_t first, std::size_t last) const;
  std::uint64_t parts_bytes(const ScratchSlot& slot, std::size_t end) const;
  bool begins_part(const ScratchSlot& slot, std::size_t piece) const;
  bool follows(int chunk, int before) const;
  std::uint64_t elements(int chunk) const;
  std::uint64_t begin(Space space, int local) const;

  Layout layout_;
  int rank_;
  const RankProgram& program_;
  std::uint64_t count_;
  std::uint64_t element_bytes_;
  std::optional<BlockTable> blocks_;  // of a v-variant
  std::optional<Segment> segment_;
  bool parted_;
  std::vector<std::uint64_t> slots_;  // where each slot of scratch begins
  std::uint64_t scratch_bytes_ = 0;
};

}  // namespace weft::comm
