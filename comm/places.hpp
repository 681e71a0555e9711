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

// Scratch is laid out in the order of first use: channels run independently of each other, so each has Places, and
// scratch, of its own.
class Places final {
 public:
  // `schedule` outlives the places.
  Places(const Schedule& schedule, int rank, const Operation& operation);

  // The parts of a span, at least one. A span is one part; but in a v-variant each of its chunks is, because blocks may
  // lie apart: so spans of the same chunks have the same parts.
  std::vector<Extent> of(const Span& span);

  std::uint64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  static constexpr std::uint64_t kUnplaced = ~std::uint64_t{0};

  const ScratchSlot& slot(const Span& span) const { return program_.scratch[static_cast<std::size_t>(span.slot)]; }
  std::uint64_t slot_offset(const Span& span);
  Extent even_scratch(const Span& span);
  Extent even_buffer(const Span& span) const;
  std::vector<Extent> uneven_scratch(const Span& span);
  std::vector<Extent> uneven_buffer(const Span& span) const;
  std::uint64_t pieces_bytes(const ScratchSlot& slot, std::size_t first, std::size_t last) const;
  std::uint64_t uneven_bytes(const ScratchSlot& slot, std::size_t first, std::size_t last) const;

  Layout layout_;
  int rank_;
  const RankProgram& program_;
  std::uint64_t count_;
  std::uint64_t element_bytes_;
  std::optional<BlockTable> blocks_;  // of a v-variant
  std::vector<std::uint64_t> slots_;  // where each slot of scratch begins
  std::uint64_t scratch_bytes_ = 0;
};

}  // namespace weft::comm
