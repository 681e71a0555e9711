// Schedule: what every rank does in one collective, as data. Knows chunks, not bytes, and nothing of any transport.
//
// The same value is executed (comm/), proved (verify), simulated, costed and exported. See docs/schedules.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/types.hpp"

namespace weft {

// Where a run of bytes of one rank lives.
enum class Space : std::uint8_t { None, Input, Output, Scratch };

// A run of consecutive chunks in one space of one rank: contiguous in memory whatever the element count.
//   Input, Output: `first` is the *local* chunk (see Layout), `slot` is 0.
//   Scratch:       `slot` indexes RankProgram::scratch, `first` counts pieces within that slot.
struct Span {
  Space space = Space::None;
  std::int32_t slot = 0;
  std::int32_t first = 0;
  std::int32_t count = 0;

  bool operator==(const Span&) const = default;
};

enum class StepKind : std::uint8_t {
  Send,            // post `src` to `peer`; never blocks
  Recv,            // dst = message from `peer`
  RecvReduce,      // dst = src op message from `peer` (src and dst may be the same span)
  Copy,            // dst = src
  Reduce,          // dst = src op src2
  Wait,            // until the send of step `wait` (same channel, same rank) no longer reads its source
  RecvSend,        // Recv, then dst is sent to `to`
  RecvReduceSend,  // RecvReduce, then dst is sent to `to`
};

// One move. A receiving step first takes the message (into `landing` if the transport has no place of its own, see
// Endpoint::receive), then honours `wait`, then writes dst. So taking the message never waits for a send, which is what
// keeps a symmetric exchange free of deadlock when sends complete only at the receiver. What a kind does not use keeps
// the value that it has here.
struct Step {
  StepKind kind = StepKind::Copy;
  bool final_reduction = false;  // this Reduce/RecvReduce makes dst hold every rank's contribution (Avg scales here)
  std::int32_t peer = -1;        // Send: receiver; Recv*: sender
  std::int32_t to = -1;          // RecvSend, RecvReduceSend: receiver
  std::int32_t wait = -1;        // index of a sending step of this channel that must be complete before dst is written
  Span dst = {};
  Span src = {};
  Span src2 = {};     // Reduce only
  Span landing = {};  // Recv*: scratch from its slot's beginning, of dst's size or more (uneven: of dst's size); may be
                      // None for a Recv without `wait` (lands in dst)

  bool operator==(const Step&) const = default;
};

// A piece of scratch, sized for these logical chunks laid one after another in this order.
struct ScratchSlot {
  std::vector<std::int32_t> chunks;

  bool operator==(const ScratchSlot&) const = default;
};

struct RankProgram {
  bool in_place = false;                    // this rank's Input and Output alias (Operation's rules)
  std::vector<std::vector<Step>> channels;  // in-order list of steps per channel
  std::vector<ScratchSlot> scratch;

  bool operator==(const RankProgram&) const = default;
};

struct Schedule {
  std::string algorithm;  // "ring"
  Collective collective = Collective::Barrier;
  int size = 1;  // ranks
  int root = 0;
  int channels = 1;
  int chunks_per_block = 1;
  bool uneven = false;  // serves blocks of unequal counts, too: only pieces of equal logical chunks are of one size
  std::vector<RankProgram> ranks;  // `size` entries; a projected schedule has steps for one rank only
  std::uint64_t program_hash = 0;  // hash of the global program: equal on all ranks whatever was projected or aliased

  bool operator==(const Schedule&) const = default;
};

// Maps logical chunks to places. The logical buffer of a collective is `blocks` blocks of `count` elements each:
//   all_reduce, broadcast, reduce, barrier: 1 (barrier: of 0 elements, always in place) · all_gather, gather,
//   reduce_scatter, scatter: one per rank · all_to_all: size*size, block s*size+d goes from rank s to rank d.
// Block b is cut into chunks_per_block chunks; chunk i of the block covers its elements [i*n/C, (i+1)*n/C).
// Logical chunk = block * chunks_per_block + i.
struct Layout {
  Collective collective = Collective::Barrier;
  int size = 1;
  int root = 0;
  int chunks_per_block = 1;

  int blocks() const;
  int chunks() const { return blocks() * chunks_per_block; }
  // Local chunk of `chunk` in rank's Input / Output, or -1 where the rank has it not.
  int input_index(int rank, int chunk) const;
  int output_index(int rank, int chunk) const;
  // Inverse: the logical chunk at a local chunk; -1 if out of range.
  int input_chunk(int rank, int local) const;
  int output_chunk(int rank, int local) const;
  // Local chunks in rank's Input / Output; 0 where it has none.
  int input_chunks(int rank) const;
  int output_chunks(int rank) const;
  // In place: the Output's local chunk that is the same memory as the Input's `local`; -1 if that memory is not Output.
  int aliased_output(int rank, int input_local) const;
  // And back.
  int aliased_input(int rank, int output_local) const;
  // Element range of a local chunk for blocks of n elements, from the start of the space.
  std::uint64_t begin_element(int local_chunk, std::uint64_t n) const;
  std::uint64_t elements(int chunk,
                         std::uint64_t n) const;  // also for logical chunks: depends on chunk % chunks_per_block
  // Whose contribution an output holding this chunk must have: one rank's, or -1 for every rank's (reducing collectives
  // and barrier).
  int contributor(int chunk) const;
};

Layout layout_of(const Schedule& schedule);

std::string_view to_string(StepKind kind);
std::string_view to_string(Space space);

}  // namespace weft
