// Rates of rings.
#include "topology/ring_rates.hpp"

#include <utility>

namespace weft::topology {

std::vector<RingRate> ring_rates(const Graph& graph, PathFinder& finder, const std::vector<int>& placement,
                                 const std::vector<std::vector<int>>& rings) {
  LinkLoads loads(graph);
  std::vector<std::vector<Path>> steps(rings.size());
  for (std::size_t r = 0; r < rings.size(); ++r) {
    const std::vector<int>& ring = rings[r];
    for (std::size_t i = 0; ring.size() > 1 && i < ring.size(); ++i) {
      const int from = placement[static_cast<std::size_t>(ring[i])];
      const int to = placement[static_cast<std::size_t>(ring[(i + 1) % ring.size()])];
      steps[r].push_back(finder.best_path(from, to));
      loads.add(steps[r].back());
    }
  }
  std::vector<RingRate> rates(rings.size());
  for (std::size_t r = 0; r < rings.size(); ++r) {
    bool first = true;
    for (Path& step : steps[r]) {
      const LinkLoads::Share share = loads.narrowest(step);
      if (first || share.gbs < rates[r].shared.gbs) rates[r].shared = share;
      if (first || step.bandwidth_gbs < rates[r].narrowest.bandwidth_gbs) rates[r].narrowest = std::move(step);
      first = false;
    }
  }
  return rates;
}

double total_gbs(const std::vector<RingRate>& rates) {
  double total = 0;
  for (const RingRate& rate : rates) total += rate.shared.gbs;
  return total;
}

}  // namespace weft::topology
