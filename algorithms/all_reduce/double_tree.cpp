// Double-tree all_reduce: each half of the buffer goes up one binary tree as a sum and comes down it again. An inner
// rank of one tree is a leaf of the other, so every rank sends and receives about the same, and both directions of its
// links are busy.
//
//   4 ranks:   first half: r0 -> r1 <- r2, r1 -> r3     second half: r1 -> r2 <- r3, r2 -> r0     and back down
//
// 2 log2(P) steps, 2 bytes sent per rank and byte: nearly the ring's bandwidth at a tree's latency once the engine
// passes a chunk on in slices. For many ranks and middling messages.  Sanders, Speck, Traeff, 2009.
#include <vector>

#include "algorithms/rules.hpp"

namespace weft::algorithms {

static constexpr int halves(int) { return 2; }

// Breadth first: every rank after its parent.
static std::vector<int> parents_first(const Tree& tree) {
  std::vector<int> order = {tree.root};
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const int child : tree.children[static_cast<std::size_t>(order[i])]) order.push_back(child);
  return order;
}

static void build(ScheduleBuilder& b) {
  if (b.size() == 1) return;
  for (int half = 0; half < 2; ++half) {
    b.channel(half);
    const Tree& tree = b.tree(half);
    const std::vector<int> downward = parents_first(tree);
    for (auto rank = downward.rbegin(); rank != downward.rend(); ++rank)
      if (*rank != tree.root) b.reduce(half, *rank, tree.parent[static_cast<std::size_t>(*rank)]);
    for (const int rank : downward)
      if (rank != tree.root) b.copy(half, tree.parent[static_cast<std::size_t>(rank)], rank);
  }
}

extern const Algorithm all_reduce_double_tree = {
    .name = "double_tree",
    .collective = Collective::AllReduce,
    .summary =
        "2 log2(P) steps, each half of the buffer up and down its own tree; latency of a tree, nearly the bandwidth of "
        "a ring",
    .native_channels = 2,
    .replicable = true,
    .chunks_per_block = halves,
    .unsupported = serves_everything,
    .build = build,
};

}  // namespace weft::algorithms
