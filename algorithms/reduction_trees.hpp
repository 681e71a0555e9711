// ReductionTrees: what a value is made of, as a tree over the ranks' contributions. Equal trees, up to the order of the
// two operands of a node, have equal numbers (hash-consing), so comparing two results is comparing two integers.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::algorithms {

class ReductionTrees {
 public:
  using Id = std::int32_t;

  ReductionTrees();
  Id leaf(int rank, int chunk);
  // `final_reduction` is part of the value: the same sum with and without it are two values.
  Id reduce(Id a, Id b, bool final_reduction);
  // The one of Numerics::Invariant (canonical_order.hpp) over the contributions of `size` > 1 ranks.
  Id canonical(int size, int chunk);

  bool is_leaf(Id id, int rank, int chunk) const;
  // Whether the tree has exactly the leaves (0, chunk) .. (size - 1, chunk), each once.
  bool holds_each_once(Id id, int size, int chunk) const;
  // The first of `size` ranks that is in no leaf; -1 if all are there.
  int first_absent(Id id, int size) const;
  // Whether its root is the only node with final_reduction.
  bool final_at_the_root_only(Id id) const;
  // The leaves' ranks for an error message: "ranks 0, 1, 1 and 3", at most a few.
  std::vector<std::int32_t> some_ranks(Id id, std::size_t limit) const;
  int chunk_of_some_leaf(Id id) const;

 private:
  struct Node {
    Id a = -1;  // leaf: the rank
    Id b = -1;  // leaf: the chunk
    std::int32_t leaves = 0;
    std::int8_t finals = 0;  // 2: more than one
    bool is_leaf = false;
    bool final_reduction = false;

    bool same(const Node& other) const {
      return a == other.a && b == other.b && is_leaf == other.is_leaf && final_reduction == other.final_reduction;
    }
  };
  Id intern(const Node& node);
  void grow();
  const Node& at(Id id) const { return nodes_[static_cast<std::size_t>(id)]; }

  std::vector<Node> nodes_;
  std::vector<Id> table_;  // open addressing; size is a power of two
};

}  // namespace weft::algorithms
