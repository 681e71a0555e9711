// Recursive halving reduce_scatter: in each round partners exchange the half of the blocks that the other is
// responsible for.
//
//   4 ranks:   r0 <-> r2: 0,1 | 2,3   r1 <-> r3 likewise      then   r0 <-> r1: 0 | 1    r2 <-> r3: 2 | 3
//
// log2(P) steps, P-1 blocks sent per rank. A rank count that is no power of two folds its excess into neighbours first,
// which are then responsible for two blocks (2 more steps, one of them with all the data).  Thakur, Rabenseifner,
// Gropp, 2005.
#include "algorithms/rules.hpp"

namespace weft::algorithms {

static void build(ScheduleBuilder& b) {
  // In the order of the ranks, so that what a rank is responsible for is one run of blocks.
  const PowerOfTwo core(b.size());
  const auto all = Chunks::range(0, b.size());
  for (const auto& [spare, keeper] : core.spares()) b.reduce(all, spare, keeper);
  // Positions [first, first + count) own the blocks of their ranks and of the spares folded into them.
  const auto blocks = [&](int first, int count) {
    const int begin = core[first];
    const int end = first + count < core.size() ? core[first + count] : b.size();
    return Chunks::range(begin, end - begin);
  };
  for (int half = core.size() / 2; half > 0; half /= 2) {
    for (int p = 0; p < core.size(); ++p) {
      if ((p & half) != 0) continue;
      const int low = p - p % (2 * half);
      b.reduce(blocks(low + half, half), core[p], core[p + half]);
      b.reduce(blocks(low, half), core[p + half], core[p]);
    }
  }
  for (const auto& [spare, keeper] : core.spares()) b.copy(spare, keeper, spare);
}

extern const Algorithm reduce_scatter_halving = {
    .name = "halving",
    .collective = Collective::ReduceScatter,
    .summary = "log2(P) steps, P-1 blocks per rank; few steps, for small and middling messages",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = one_chunk,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
