// Sharing: what is left of links that several paths use at once. Rings and reports of rings are made with it; a
// schedule's own traffic is simulated by algorithms/.
#pragma once

#include <vector>

#include "weft/graph.hpp"

namespace weft::topology {

// Paths over the links of one graph, each link counted in each direction. The graph must outlive it.
class LinkLoads {
 public:
  explicit LinkLoads(const Graph& graph) : graph_(graph), paths_(graph.links.size() * 2, 0) {}

  void add(const Path& path, int times = 1) {
    for (const Hop& hop : path.hops) paths_[index(hop)] += times;
  }
  int paths_over(const Hop& hop) const { return paths_[index(hop)]; }

  // The hop of a path at which its even share is smallest, and that share. No hop (link -1) for a path without hops.
  struct Share {
    Hop hop{-1, true};
    int paths = 1;
    double gbs = 0;
  };
  Share narrowest(const Path& path) const;

  // Links that more than one path uses in one direction, the smallest share first; at most `most`.
  std::vector<Share> shared(std::size_t most) const;

 private:
  static std::size_t index(const Hop& hop) { return static_cast<std::size_t>(hop.link) * 2 + (hop.forward ? 0 : 1); }
  Share share_at(const Hop& hop) const;

  const Graph& graph_;
  std::vector<int> paths_;
};

}  // namespace weft::topology
