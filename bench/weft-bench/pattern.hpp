// What the ranks put in, and so what must come out. Values repeat with a prime period that is shifted from one period
// to the next, so that a piece in a wrong place is found; they are chosen so that every order of reduction gives the
// same, exact result in the data type at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weft/types.hpp"

namespace weft::bench {

// An endless sequence of elements of one type.
class Sequence {
 public:
  // `values` has kPeriod elements as bytes.
  Sequence(std::vector<std::byte> values, std::size_t element_bytes);

  // Elements first .. first + count - 1 to `to`.
  void write(std::byte* to, std::uint64_t first, std::uint64_t count) const;
  // How many of the elements at `from` differ from elements first ...; the index (from 0) of the first one goes to
  // `where`.
  std::uint64_t count_wrong(const std::byte* from, std::uint64_t first, std::uint64_t count,
                            std::uint64_t* where) const;
  // The bytes of one element.
  const std::byte* element(std::uint64_t index) const;

  static constexpr std::uint64_t kPeriod = 1021;

 private:
  std::vector<std::byte> twice_;  // two periods, so that one period from any start is contiguous
  std::size_t element_bytes_;
};

// The contributions of all ranks to calls of one type and op, and their reduction.
class Pattern {
 public:
  // `op` counts only if `reducing`; otherwise elements are any bits (Bool: 0 or 1).
  Pattern(DataType dtype, ReduceOp op, bool reducing, int ranks);

  const Sequence& contribution(int rank) const { return contributions_[static_cast<std::size_t>(rank)]; }
  // Of all ranks' contributions; only if `reducing`.
  const Sequence& reduction() const { return contributions_.back(); }

 private:
  std::vector<Sequence> contributions_;  // by rank; then the reduction
};

// One element for people: "3", "0x3f".
std::string element_to_string(DataType dtype, const std::byte* element);

}  // namespace weft::bench
