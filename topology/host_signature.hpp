// HostSignatures: which hosts of a cluster are built alike, so that what is searched on one is known of the others.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/graph.hpp"

namespace weft::topology {

class HostSignatures {
 public:
  explicit HostSignatures(const Graph& graph);

  // Equal for two hosts and sets of their nodes only if one can be laid on the other, node by node in order of ids:
  // kinds, containment, links and stated classes. Not names, nor what is outside the host.
  std::vector<std::int64_t> of(int host, const std::vector<int>& devices) const;

  // A node's place among those of its host, and back.
  int position(int node) const { return position_[static_cast<std::size_t>(node)]; }
  int node(int host, int position) const {
    return nodes_[static_cast<std::size_t>(host)][static_cast<std::size_t>(position)];
  }

 private:
  const Graph& graph_;
  std::vector<std::vector<int>> nodes_;   // by host
  std::vector<std::vector<int>> links_;   // by host
  std::vector<std::vector<int>> stated_;  // by host
  std::vector<int> position_;
};

}  // namespace weft::topology
