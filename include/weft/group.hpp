// Group: what an algorithm may know of the ranks it serves. A value; derived once per communicator from the agreed
// graph (topology::make_group), equal on all ranks.
#pragma once

#include <vector>

namespace weft {

// A rooted spanning tree over the ranks of a group. parent[root] == -1.
struct Tree {
  int root = 0;
  std::vector<int> parent;                 // by rank
  std::vector<std::vector<int>> children;  // by rank

  bool operator==(const Tree&) const = default;
};

struct Group {
  int size = 1;
  // Rank orders along which neighbours are near on the topology; one per channel the topology supports, at least one.
  // Each is a permutation of 0..size-1. A ring closes from the last to the first.
  std::vector<std::vector<int>> rings;
  // Double binary trees: pairs (2i, 2i+1) in which an inner rank of one tree is a leaf of the other (all but at most
  // one rank). At least one pair when size > 1.
  std::vector<Tree> trees;
  // Ranks by host, in host order; every rank is in exactly one.
  std::vector<std::vector<int>> hosts;

  bool operator==(const Group&) const = default;
};

// The group of `size` ranks on one host in rank order, with double trees over that order: what tests and tools use when
// there is no graph.
Group flat_group(int size);

// The two trees of a double binary tree over `order` (Sanders, Speck, Traeff 2009): tree 0 is the binary tree whose
// leaves are the even positions, tree 1 is the same tree shifted by one position, so that inner ranks of tree 0 are
// leaves of tree 1 wherever order.size() is even.
std::vector<Tree> double_tree(const std::vector<int>& order);

}  // namespace weft
