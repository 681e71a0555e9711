// The order in which Numerics::Invariant reduces: one binary tree over the ranks, whatever the algorithm.
//
//   6 ranks:  ((0 1) (2 3)) (4 5)        7 ranks:  ((0 1) (2 3)) ((4 5) 6)        8 ranks:  ((0 1) (2 3)) ((4 5) (6 7))
//
// Of P ranks, with M the largest power of two up to P, the first 2(P-M) are joined in pairs, so that M values are left;
// those are joined as a full binary tree, neighbours first. That is the tree of recursive doubling, and every aligned
// block of 2^k ranks that P is a multiple of is a subtree: hosts of 2^k ranks need to send one value only.
#pragma once

#include <bit>

namespace weft::algorithms {

// Taking the values in the order of the ranks, each onto a stack: how many times the two on top are joined after that
// of `position` of `size`.
constexpr int joins_after(int position, int size) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  const int excess = size - power;
  const bool paired = position < 2 * excess;
  if (paired && position % 2 == 0) return 0;
  const int value = paired ? position / 2 : position - excess;
  return std::countr_zero(static_cast<unsigned>(value) + 1U) + (paired ? 1 : 0);
}

}  // namespace weft::algorithms
