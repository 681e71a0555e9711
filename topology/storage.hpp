// Storage in a graph: what of it is nobody else's way, so that pictures, texts and comparisons of what computes and
// communicates may leave it out. A server has many drives, and each hangs on a port of its own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "weft/graph.hpp"

namespace weft::topology {

class StorageParts {
 public:
  explicit StorageParts(const Graph& graph);

  // Whether the node is storage, or a bridge or switch with nothing but storage below it.
  bool contains(int node) const { return is_part_[static_cast<std::size_t>(node)]; }
  // The storage whose nearest ancestor that is no such part is this node, in order.
  const std::vector<int>& below(int node) const { return below_[static_cast<std::size_t>(node)]; }

 private:
  std::vector<bool> is_part_;            // by node
  std::vector<std::vector<int>> below_;  // by node
};

// "16 storage devices", and "nvme0n1, nvme1n1 and 14 more".
std::string storage_count(std::size_t count);
std::string storage_names(const Graph& graph, const std::vector<int>& storage);

}  // namespace weft::topology
