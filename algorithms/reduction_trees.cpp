// The table of trees, and walks over them that stay cheap where trees share parts.
#include "algorithms/reduction_trees.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "algorithms/canonical_order.hpp"

namespace weft::algorithms {
namespace {

std::size_t mix(std::int32_t a, std::int32_t b, int kind) {
  std::uint64_t key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32) | static_cast<std::uint32_t>(b);
  key ^= static_cast<std::uint64_t>(kind) << 62;
  key *= 0x9e3779b97f4a7c15ULL;
  key ^= key >> 29;
  key *= 0xbf58476d1ce4e5b9ULL;
  return static_cast<std::size_t>(key ^ (key >> 32));
}

}  // namespace

ReductionTrees::ReductionTrees() : table_(1024, -1) {}

ReductionTrees::Id ReductionTrees::leaf(int rank, int chunk) {
  return intern({.a = rank, .b = chunk, .leaves = 1, .finals = 0, .is_leaf = true, .final_reduction = false});
}

ReductionTrees::Id ReductionTrees::reduce(Id a, Id b, bool final_reduction) {
  const std::int64_t leaves = std::int64_t{at(a).leaves} + at(b).leaves;
  const int finals = at(a).finals + at(b).finals + (final_reduction ? 1 : 0);
  return intern(
      {.a = std::min(a, b),
       .b = std::max(a, b),
       .leaves = static_cast<std::int32_t>(std::min(leaves, std::int64_t{std::numeric_limits<std::int32_t>::max()})),
       .finals = static_cast<std::int8_t>(std::min(finals, 2)),
       .is_leaf = false,
       .final_reduction = final_reduction});
}

ReductionTrees::Id ReductionTrees::canonical(int size, int chunk) {
  std::vector<Id> open;
  for (int rank = 0; rank < size; ++rank) {
    Id value = leaf(rank, chunk);
    for (int joins = joins_after(rank, size); joins > 0; --joins) {
      value = reduce(open.back(), value, rank == size - 1 && joins == 1);
      open.pop_back();
    }
    open.push_back(value);
  }
  return open.back();
}

ReductionTrees::Id ReductionTrees::intern(const Node& node) {
  if (nodes_.size() * 2 >= table_.size()) grow();
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = mix(node.a, node.b, (node.is_leaf ? 2 : 0) + (node.final_reduction ? 1 : 0)) & mask;
  for (; table_[slot] >= 0; slot = (slot + 1) & mask)
    if (at(table_[slot]).same(node)) return table_[slot];
  table_[slot] = static_cast<Id>(nodes_.size());
  nodes_.push_back(node);
  return table_[slot];
}

void ReductionTrees::grow() {
  std::vector<Id> bigger(table_.size() * 4, -1);
  const std::size_t mask = bigger.size() - 1;
  for (std::size_t id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    std::size_t slot = mix(node.a, node.b, (node.is_leaf ? 2 : 0) + (node.final_reduction ? 1 : 0)) & mask;
    while (bigger[slot] >= 0) slot = (slot + 1) & mask;
    bigger[slot] = static_cast<Id>(id);
  }
  table_ = std::move(bigger);
}

bool ReductionTrees::is_leaf(Id id, int rank, int chunk) const {
  const Node& node = at(id);
  return node.is_leaf && node.a == rank && node.b == chunk;
}

// The number of leaves bounds the walk, though the tree is stored as a graph.
bool ReductionTrees::holds_each_once(Id id, int size, int chunk) const {
  if (at(id).leaves != size) return false;
  std::vector<bool> seen(static_cast<std::size_t>(size), false);
  std::vector<Id> open = {id};
  while (!open.empty()) {
    const Node& node = at(open.back());
    open.pop_back();
    if (!node.is_leaf) {
      open.push_back(node.a);
      open.push_back(node.b);
      continue;
    }
    if (node.b != chunk || seen[static_cast<std::size_t>(node.a)]) return false;
    seen[static_cast<std::size_t>(node.a)] = true;
  }
  return true;
}

int ReductionTrees::first_absent(Id id, int size) const {
  std::vector<bool> present(static_cast<std::size_t>(size), false);
  std::vector<bool> visited(nodes_.size(), false);
  std::vector<Id> open = {id};
  while (!open.empty()) {
    const Id next = open.back();
    open.pop_back();
    if (visited[static_cast<std::size_t>(next)]) continue;
    visited[static_cast<std::size_t>(next)] = true;
    const Node& node = at(next);
    if (node.is_leaf) {
      present[static_cast<std::size_t>(node.a)] = true;
    } else {
      open.push_back(node.a);
      open.push_back(node.b);
    }
  }
  const auto absent = std::find(present.begin(), present.end(), false);
  return absent == present.end() ? -1 : static_cast<int>(absent - present.begin());
}

bool ReductionTrees::final_at_the_root_only(Id id) const { return at(id).final_reduction && at(id).finals == 1; }

std::vector<std::int32_t> ReductionTrees::some_ranks(Id id, std::size_t limit) const {
  std::vector<std::int32_t> ranks;
  std::vector<Id> open = {id};
  while (!open.empty() && ranks.size() < limit) {
    const Node& node = at(open.back());
    open.pop_back();
    if (node.is_leaf) {
      ranks.push_back(node.a);
    } else {
      open.push_back(node.a);
      open.push_back(node.b);
    }
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

int ReductionTrees::chunk_of_some_leaf(Id id) const {
  while (!at(id).is_leaf) id = at(id).a;
  return at(id).b;
}

}  // namespace weft::algorithms
