// Pairs by their best paths.
#include "topology/ring_host.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace weft::topology {
namespace {

constexpr std::size_t kMaxSpeeds = 16;
constexpr int kMaxSplits = 8;  // a link is shared by so many rings at most

}  // namespace

RingHost::RingHost(PathFinder& finder, const Graph& graph, const std::vector<int>& devices, PathClass farthest)
    : count_(devices.size()) {
  pairs_.resize(count_ * count_);
  for (std::size_t from = 0; from < count_; ++from) {
    const std::vector<Path> paths = finder.best_paths(devices[from], devices);
    for (std::size_t to = 0; to < count_; ++to) {
      RingPair& pair = pairs_[from * count_ + to];
      if (from == to || paths[to].hops.empty() || paths[to].path_class > farthest) continue;
      pair.path_class = paths[to].path_class;
      pair.width = width_kbs(paths[to].bandwidth_gbs);
      for (const Hop& hop : paths[to].hops) pair.hops.push_back(compact(graph, hop));
    }
  }
}

std::vector<std::int64_t> RingHost::speeds() const {
  std::set<std::int64_t, std::greater<>> all;
  for (const RingPair& pair : pairs_)
    if (pair.width > 0)
      for (int parts = 1; parts <= kMaxSplits; ++parts) all.insert(pair.width / parts);
  for (std::int64_t lane : lanes_)
    if (lane > 0) all.insert(lane);
  std::vector<std::int64_t> speeds(all.begin(), all.end());
  if (speeds.size() <= kMaxSpeeds) return speeds;
  std::vector<std::int64_t> some;  // evenly chosen
  for (std::size_t i = 0; i < kMaxSpeeds; ++i) some.push_back(speeds[i * (speeds.size() - 1) / (kMaxSpeeds - 1)]);
  return some;
}

std::int64_t RingHost::bound() const {
  std::int64_t bound = std::numeric_limits<std::int64_t>::max();
  for (std::size_t at = 0; at < count_; ++at) {
    std::set<int> first;
    std::set<int> last;
    std::int64_t out = 0;
    std::int64_t in = 0;
    for (std::size_t other = 0; other < count_; ++other) {
      const RingPair& leaving = pair(at, other);
      const RingPair& arriving = pair(other, at);
      if (!leaving.hops.empty() && first.insert(leaving.hops.front()).second)
        out += capacity_[static_cast<std::size_t>(leaving.hops.front())];
      if (!arriving.hops.empty() && last.insert(arriving.hops.back()).second)
        in += capacity_[static_cast<std::size_t>(arriving.hops.back())];
    }
    bound = std::min({bound, out, in});
  }
  return bound;
}

// Directed links are numbered as they are met, so that what is left of them is a short list.
int RingHost::compact(const Graph& graph, const Hop& hop) {
  const int key = 2 * hop.link + (hop.forward ? 0 : 1);
  const auto found = std::lower_bound(keys_.begin(), keys_.end(), std::pair(key, 0));
  if (found != keys_.end() && found->first == key) return found->second;
  const int number = static_cast<int>(capacity_.size());
  keys_.insert(found, {key, number});
  const Link& link = graph.links[static_cast<std::size_t>(hop.link)];
  capacity_.push_back(width_kbs(link.bandwidth_gbs));
  if (link.count > 1) lanes_.insert(width_kbs(link.lane_gbs()));
  return number;
}

}  // namespace weft::topology
