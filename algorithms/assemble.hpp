// From one rank's events to its steps: the lowering and the passes after it, in their order.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/draft.hpp"
#include "algorithms/program.hpp"

namespace weft::algorithms {

struct Passes {
  bool hoist_sends = true;
  bool fuse = true;
  bool uneven = false;  // chunks of different blocks differ in size
};

// One chunk's bytes.
struct Place {
  Space space = Space::None;
  std::int32_t slot = 0;
  std::int32_t index = 0;

  bool operator==(const Place&) const = default;
};

// That a value will be sent, as chunk `position` of the message of event `send`; -1: not as part of a longer message.
struct Part {
  std::int32_t send = -1;
  std::int32_t position = 0;
};

// What the lowering keeps per chunk. Many chunks are of no concern to a rank, so the tables are made once for all
// ranks.
struct LoweringTables {
  std::vector<Place> place;                   // where its value is; None: not written yet
  std::vector<std::int32_t> channel;          // -1: no move touches it
  std::vector<std::int32_t> last_write;       // the last event that writes it; -1: none
  std::vector<std::int32_t> last_input_read;  // the last event that reads it from Input; -1: none
  std::vector<Part> next_part;                // the next message of several chunks that it is sent in
};

// Fills result.channels and result.scratch; result.in_place says how the rank's buffers lie.
void assemble(const Program& program, int rank, const Passes& passes, LoweringTables& tables, RankProgram& result);

// Chooses places: which span each value is read from and written to, with packing and unpacking; no waits yet.
Draft lower(const Program& program, int rank, bool in_place, LoweringTables& tables);

// Moves each Send up to where its source has been written and the Send before it on its lane is. Nothing else moves.
void hoist_sends(Draft& draft);

// Lets homes whose lives do not overlap share memory: before waits are derived, for a slot is written anew only after
// its sends.
void merge_homes(Draft& draft, bool uneven);

// Adds a Wait wherever a step writes what an unfinished Send reads; receives into such places get a message slot first.
void derive_waits(Draft& draft);

// Joins a receive with the Reduce or Copy that uses its message, and with the Send that passes the result on.
void fuse(Draft& draft);

// The same for messages, last: all landings of a channel share one slot that has room for the largest, if it is known
// which that is.
void merge_messages(Draft& draft, bool uneven);

}  // namespace weft::algorithms
