// Even shares of links.
#include "topology/sharing.hpp"

#include <algorithm>

namespace weft::topology {

LinkLoads::Share LinkLoads::share_at(const Hop& hop) const {
  const int paths = std::max(1, paths_[index(hop)]);
  return {hop, paths, graph_.links[static_cast<std::size_t>(hop.link)].bandwidth_gbs / paths};
}

LinkLoads::Share LinkLoads::narrowest(const Path& path) const {
  Share least;
  least.gbs = path.bandwidth_gbs;
  for (const Hop& hop : path.hops)
    if (const Share share = share_at(hop); least.hop.link < 0 || share.gbs < least.gbs) least = share;
  return least;
}

std::vector<LinkLoads::Share> LinkLoads::shared(std::size_t most) const {
  std::vector<Share> shares;
  for (std::size_t i = 0; i < paths_.size(); ++i)
    if (paths_[i] > 1) shares.push_back(share_at({static_cast<int>(i / 2), i % 2 == 0}));
  std::stable_sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.gbs < b.gbs; });
  shares.resize(std::min(shares.size(), most));
  return shares;
}

}  // namespace weft::topology
