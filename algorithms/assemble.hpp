// From one rank's events to its steps: the lowering and the passes after it, in their order.
#pragma once

#include <vector>

#include "algorithms/draft.hpp"
#include "algorithms/program.hpp"

namespace weft::algorithms {

struct Passes {
  bool hoist_sends = true;
  bool fuse = true;
};

// Fills result.channels and result.scratch; result.in_place says how the rank's buffers lie.
void assemble(const Program& program, int rank, const Passes& passes, RankProgram& result);

// Chooses places: which span each value is read from and written to, with packing and unpacking; no waits yet.
Draft lower(const Program& program, int rank, bool in_place);

// Moves each Send up to where its source has been written and the Send before it on its lane is. Nothing else moves.
void hoist_sends(Draft& draft);

// Lets homes whose lives do not overlap share memory: before waits are derived, for a slot is written anew only after
// its sends.
void merge_homes(Draft& draft);

// Adds a Wait wherever a step writes what an unfinished Send reads; receives into such places get a message slot first.
void derive_waits(Draft& draft);

// Joins a receive with the Reduce or Copy that uses its message, and with the Send that passes the result on.
void fuse(Draft& draft);

// The same for messages, last: all landings of a channel share one slot that has room for the largest.
void merge_messages(Draft& draft);

}  // namespace weft::algorithms
