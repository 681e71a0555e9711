// Double trees over an order of ranks, and a group that knows of one host only.
#include "weft/group.hpp"

#include <cstddef>
#include <numeric>

namespace weft {
namespace {

// Links `positions` (sorted) into a balanced binary search tree and returns the position of its root.
struct TreeMaker {
  const std::vector<int>& order;
  Tree& tree;
  int shift;

  int rank_at(int position) const { return order[static_cast<std::size_t>(position + shift) % order.size()]; }

  void attach(int parent_position, int child_position) {
    const int parent = rank_at(parent_position);
    const int child = rank_at(child_position);
    tree.parent[static_cast<std::size_t>(child)] = parent;
    tree.children[static_cast<std::size_t>(parent)].push_back(child);
  }

  // In-order tree over 1..n: position i has height = number of trailing zeros of i; its parent is the nearest position
  // of greater height that exists. Even (1-based odd) positions are the leaves.
  int build(int size) {
    int top = 1;
    while (top * 2 <= size) top *= 2;
    for (int i = 1; i <= size; ++i) {
      if (i == top) continue;
      const int low = i & -i;
      int up = (i - low) | (low << 1);         // nearest position one level up
      if (up > size || up == i) up = i - low;  // the tree is cut off at the right: go left
      while (up > size) up -= up & -up;
      attach(up - 1, i - 1);
    }
    return top - 1;
  }
};

}  // namespace

std::vector<Tree> double_tree(const std::vector<int>& order) {
  const int size = static_cast<int>(order.size());
  std::vector<Tree> trees;
  for (int which = 0; which < 2; ++which) {
    Tree tree;
    tree.parent.assign(order.size(), -1);
    tree.children.resize(order.size());
    TreeMaker maker{order, tree, which};
    tree.root = maker.rank_at(maker.build(size));
    trees.push_back(std::move(tree));
  }
  return trees;
}

Group flat_group(int size) {
  Group group;
  group.size = size;
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  group.trees = double_tree(order);
  group.hosts.push_back(order);
  group.rings.push_back(std::move(order));
  return group;
}

}  // namespace weft
