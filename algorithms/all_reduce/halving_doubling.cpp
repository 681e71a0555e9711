// Halving-doubling all_reduce (Rabenseifner): a reduce_scatter in which the exchanged part halves each round, then an
// all_gather in which it doubles.
//
//   4 ranks, 4 chunks:   r0 <-> r1: 0,1 | 2,3    r0 <-> r2: 0 | 1       and back:   r0 <-> r2: 0 | 1    r0 <-> r1: 0,1
//   | 2,3
//
// 2 log2(P) steps, 2(P-1)/P bytes sent per rank and byte: the ring's data in a tree's steps; the largest part goes to
// the nearest rank. A rank count that is no power of two folds its excess into neighbours first (2 more steps with all
// the data). Rabenseifner, 2004.
#include <vector>

#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  const PowerOfTwo core(b.size(), b.ring_order());
  const int size = core.size();
  const auto everything = Chunks::range(0, size);
  for (const auto& [spare, keeper] : core.spares()) b.reduce(everything, spare, keeper);
  // begins[p]: where the part begins that position p still works on; parts of partners begin together.
  std::vector<int> begins(static_cast<std::size_t>(size), 0);
  for (int distance = 1, half = size / 2; distance < size; distance *= 2, half /= 2) {
    for (int p = 0; p < size; ++p) {
      if ((p & distance) != 0) continue;
      const int q = p + distance;
      const int begin = begins[static_cast<std::size_t>(p)];
      b.reduce(Chunks::range(begin + half, half), core[p], core[q]);
      b.reduce(Chunks::range(begin, half), core[q], core[p]);
      begins[static_cast<std::size_t>(q)] = begin + half;
    }
  }
  for (int distance = size / 2, half = 1; distance > 0; distance /= 2, half *= 2) {
    for (int p = 0; p < size; ++p) {
      if ((p & distance) != 0) continue;
      const int q = p + distance;
      const int begin = begins[static_cast<std::size_t>(p)];
      b.copy(Chunks::range(begin, half), core[p], core[q]);
      b.copy(Chunks::range(begin + half, half), core[q], core[p]);
      begins[static_cast<std::size_t>(q)] = begin;
    }
  }
  for (const auto& [spare, keeper] : core.spares()) b.copy(everything, keeper, spare);
}

extern const Algorithm all_reduce_halving_doubling = {
    .name = "halving_doubling",
    .collective = Collective::AllReduce,
    .summary = "2 log2(P) steps, 2(P-1)/P bytes per rank and byte; little data in few steps, for middling messages",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = largest_power_of_two,
    .unsupported = serves_everything,
    .build = build,
    .invariant = true,
};

}  // namespace weft::algorithms
