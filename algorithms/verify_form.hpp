// The form of a schedule: everything that can be said of each step by itself. What passes here can be executed
// symbolically without looking outside any array.
#pragma once

#include <string>

#include "algorithms/machine.hpp"
#include "weft/schedule.hpp"
#include "weft/status.hpp"

namespace weft::algorithms {

// OK, or Corrupt with rank, channel, step and what is wrong.
Status check_form(const Schedule& schedule);

// "rank 3, channel 0, step 5 (RecvReduce from rank 2)"
std::string describe(const Schedule& schedule, const At& at);

// The pieces of memory of one rank, numbered; where Input and Output alias they have one number.
class Memory {
 public:
  Memory(const Schedule& schedule, int rank);
  int count() const { return count_; }
  int cell(const Span& span, int i) const;
  // Of two pieces the same if they have the same size whatever the counts: which chunk of a block it is (0 ..
  // chunks_per_block - 1); of an uneven schedule which logical chunk.
  int size_class(const Span& span, int i) const;
  // "" if the span is in bounds, else what is wrong with it.
  std::string fault(const Span& span) const;

 private:
  const RankProgram* program_;
  Layout layout_;
  int rank_;
  bool uneven_;
  int inputs_;
  int outputs_;
  std::vector<std::int32_t> input_cells_;
  std::vector<std::int32_t> slot_cells_;
  int count_ = 0;
};

}  // namespace weft::algorithms
