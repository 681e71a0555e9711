// For each speed that a link suggests: take rings out of what the links have left, one after the other, each found
// depth first, until none is left; the speed with the largest sum wins. A ring that was found is tried backwards and
// once more at once, since links are two-way and often several. Where NVLink, XGMI or C2C closes a ring over all
// devices only these are used: a step through the host's bridges would hold the others up by more than it adds. The
// first steps of the search are tried nearest first, then widest, then those between which no ring goes yet; further
// attempts shuffle the rest.
//
//   8 GPUs joined in a cube mesh by one or two links of 25 GB/s: 6 rings of 25, all 6 links of each GPU
//   8 GPUs joined all to all by links of 64 GB/s: 7 rings of 64
//   8 GPUs below two PCIe switches: 1 ring of what the sockets' link carries
#include "topology/ring_search.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

namespace weft::topology {
namespace {

constexpr int kMaxSteps = 2'000;       // of one depth-first search
constexpr int kMaxAttempts = 100;      // with one speed
constexpr int kMaxAllSteps = 300'000;  // of all of them
constexpr std::size_t kMaxSpeeds = 16;
constexpr int kMaxSplits = 8;                // a link is shared by so many rings at most
constexpr int kHopeless = 20;                // attempts without any ring
constexpr std::size_t kMaxKnownRings = 200;  // that are all looked at
constexpr int kMaxKnownSteps = 200'000;
constexpr int kMaxShuffles = 200;

struct Pair {
  std::vector<int> hops;  // directed links: 2 * link + (backwards ? 1 : 0)
  PathClass path_class = PathClass::None;
  std::int64_t width = 0;
};

class Host {
 public:
  // `farthest`: pairs beyond that class are no neighbours.
  Host(PathFinder& finder, const Graph& graph, const std::vector<int>& devices, PathClass farthest)
      : count(devices.size()) {
    pairs_.resize(count * count);
    for (std::size_t from = 0; from < count; ++from) {
      const std::vector<Path> paths = finder.best_paths(devices[from], devices);
      for (std::size_t to = 0; to < count; ++to) {
        Pair& pair = pairs_[from * count + to];
        if (from == to || paths[to].hops.empty() || paths[to].path_class > farthest) continue;
        pair.path_class = paths[to].path_class;
        pair.width = width_kbs(paths[to].bandwidth_gbs);
        for (const Hop& hop : paths[to].hops) pair.hops.push_back(compact(graph, hop));
      }
    }
  }

  const Pair& pair(std::size_t from, std::size_t to) const { return pairs_[from * count + to]; }
  const std::vector<std::int64_t>& capacity() const { return capacity_; }

  // Speeds worth trying, fastest first: widths of pairs, single lanes of their links, and even parts of both.
  std::vector<std::int64_t> speeds() const {
    std::set<std::int64_t, std::greater<>> all;
    for (const Pair& pair : pairs_)
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

  const std::size_t count;

 private:
  // Directed links are numbered as they are met, so that what is left of them is a short list.
  int compact(const Graph& graph, const Hop& hop) {
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

  std::vector<Pair> pairs_;
  std::vector<std::int64_t> capacity_;
  std::vector<std::pair<int, int>> keys_;
  std::set<std::int64_t> lanes_;
};

// A small generator of its own: the standard's distributions differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  std::size_t below(std::size_t limit) {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return static_cast<std::size_t>(state_ % limit);
  }

 private:
  std::uint64_t state_;
};

// Rings of one speed.
class Packing {
 public:
  Packing(const Host& host, std::int64_t speed, std::size_t most, std::uint64_t seed)
      : host_(host),
        speed_(speed),
        most_(most),
        widest_first_(seed % 2 == 0),
        left_(host.capacity()),
        used_(host.count * host.count, 0) {
    preference_.resize(host.count);
    Random random(seed);
    for (std::size_t at = 0; at < host.count; ++at) {
      for (std::size_t step = 1; step < host.count; ++step) preference_[at].push_back((at + step) % host.count);
      for (std::size_t i = preference_[at].size(); seed > 0 && i > 1; --i)
        std::swap(preference_[at][i - 1], preference_[at][random.below(i)]);
    }
  }

  int steps() const { return all_steps_; }

  // Of known rings, in that order: each as often as it fits, or each once and then all again.
  std::vector<std::vector<std::size_t>> pack(const std::vector<std::vector<std::size_t>>& known,
                                             const std::vector<std::size_t>& order, bool repeat) {
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t i : order) {
        while (take(known[i])) {
          grows = true;
          if (!repeat) break;
        }
      }
    }
    return std::move(rings_);
  }

  std::vector<std::vector<std::size_t>> pack(bool backwards) {
    while (rings_.size() < most_ && find()) {
      const std::vector<std::size_t> ring = order_;
      std::vector<std::size_t> reversed(ring.rbegin(), ring.rend());
      std::rotate(reversed.begin(), reversed.end() - 1, reversed.end());
      take(ring);
      if (backwards) take(reversed);
    }
    return std::move(rings_);
  }

 private:
  bool has_room(const Pair& pair) const {
    return pair.width >= speed_ && std::all_of(pair.hops.begin(), pair.hops.end(),
                                               [&](int hop) { return left_[static_cast<std::size_t>(hop)] >= speed_; });
  }

  std::int64_t room(const Pair& pair) const {
    std::int64_t least = pair.width;
    for (int hop : pair.hops) least = std::min(least, left_[static_cast<std::size_t>(hop)]);
    return least;
  }

  void change(const Pair& pair, std::int64_t by) {
    for (int hop : pair.hops) left_[static_cast<std::size_t>(hop)] += by;
  }

  bool find() {
    order_.assign(1, 0);
    visited_.assign(host_.count, false);
    visited_[0] = true;
    steps_ = 0;
    const std::vector<std::int64_t> before = left_;
    const bool found = extend();
    all_steps_ += steps_;
    left_ = before;  // take() takes it, if there is one
    return found;
  }

  // Depth first; what the steps so far need is taken out of `left_` meanwhile.
  bool extend() {
    const std::size_t last = order_.back();
    if (order_.size() == host_.count) return has_room(host_.pair(last, 0));
    for (std::size_t next : candidates(last)) {
      if (++steps_ > kMaxSteps) return false;
      const Pair& pair = host_.pair(last, next);
      change(pair, -speed_);
      visited_[next] = true;
      order_.push_back(next);
      if (extend()) return true;
      order_.pop_back();
      visited_[next] = false;
      change(pair, speed_);
    }
    return false;
  }

  std::vector<std::size_t> candidates(std::size_t last) const {
    std::vector<std::tuple<PathClass, std::int64_t, int, std::size_t>> keyed;
    for (std::size_t i = 0; i < preference_[last].size(); ++i) {
      const std::size_t next = preference_[last][i];
      const Pair& pair = host_.pair(last, next);
      if (!visited_[next] && has_room(pair))
        keyed.emplace_back(pair.path_class, widest_first_ ? -room(pair) : 0, used_[last * host_.count + next], i);
    }
    std::sort(keyed.begin(), keyed.end());
    std::vector<std::size_t> result;
    for (const auto& key : keyed) result.push_back(preference_[last][std::get<3>(key)]);
    return result;
  }

  // The ring, if all of it still fits.
  bool take(const std::vector<std::size_t>& ring) {
    if (rings_.size() == most_) return false;
    const std::vector<std::int64_t> before = left_;
    for (std::size_t i = 0; i < ring.size(); ++i) change(host_.pair(ring[i], ring[(i + 1) % ring.size()]), -speed_);
    if (std::any_of(left_.begin(), left_.end(), [](std::int64_t rest) { return rest < 0; })) {
      left_ = before;
      return false;
    }
    for (std::size_t i = 0; i < ring.size(); ++i) ++used_[ring[i] * host_.count + ring[(i + 1) % ring.size()]];
    rings_.push_back(ring);
    return true;
  }

  const Host& host_;
  std::int64_t speed_;
  std::size_t most_;
  bool widest_first_;
  std::vector<std::int64_t> left_;
  std::vector<int> used_;  // by pair: rings that go there
  std::vector<std::vector<std::size_t>> preference_;
  std::vector<std::vector<std::size_t>> rings_;
  std::vector<std::size_t> order_;
  std::vector<bool> visited_;
  int steps_ = 0;
  int all_steps_ = 0;
};

// All rings of a speed, where they are few: on sparsely joined devices. Which of them are taken then matters more than
// how they are found.
class AllRings {
 public:
  AllRings(const Host& host, std::int64_t speed) : host_(host), speed_(speed), visited_(host.count, false) {
    order_.push_back(0);
    visited_[0] = true;
    complete_ = extend();
  }

  // Empty where they are too many to be found.
  std::vector<std::vector<std::size_t>> take() {
    return complete_ ? std::move(rings_) : std::vector<std::vector<std::size_t>>();
  }

 private:
  bool extend() {
    const std::size_t last = order_.back();
    if (order_.size() == host_.count) {
      if (host_.pair(last, 0).width >= speed_) rings_.push_back(order_);
      return rings_.size() <= kMaxKnownRings;
    }
    for (std::size_t next = 1; next < host_.count; ++next) {
      if (visited_[next] || host_.pair(last, next).width < speed_) continue;
      if (++steps_ > kMaxKnownSteps) return false;
      visited_[next] = true;
      order_.push_back(next);
      const bool go_on = extend();
      order_.pop_back();
      visited_[next] = false;
      if (!go_on) return false;
    }
    return true;
  }

  const Host& host_;
  std::int64_t speed_;
  std::vector<std::vector<std::size_t>> rings_;
  std::vector<std::size_t> order_;
  std::vector<bool> visited_;
  int steps_ = 0;
  bool complete_ = false;
};

// Whether neighbours are joined by a switch of NVLink or the like: one ring does not keep all its links busy.
bool over_switch(const Host& host, const std::vector<std::size_t>& ring) {
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Pair& pair = host.pair(ring[i], ring[(i + 1) % ring.size()]);
    if (pair.path_class != PathClass::Nvl || pair.hops.size() < 2) return false;
  }
  return true;
}

// No rings together are faster than what leaves, or reaches, the device that has least.
std::int64_t bound_of(const Host& host) {
  std::int64_t bound = std::numeric_limits<std::int64_t>::max();
  for (std::size_t at = 0; at < host.count; ++at) {
    std::set<int> first;
    std::set<int> last;
    std::int64_t out = 0;
    std::int64_t in = 0;
    for (std::size_t other = 0; other < host.count; ++other) {
      const Pair& leaving = host.pair(at, other);
      const Pair& arriving = host.pair(other, at);
      if (!leaving.hops.empty() && first.insert(leaving.hops.front()).second)
        out += host.capacity()[static_cast<std::size_t>(leaving.hops.front())];
      if (!arriving.hops.empty() && last.insert(arriving.hops.back()).second)
        in += host.capacity()[static_cast<std::size_t>(arriving.hops.back())];
    }
    bound = std::min({bound, out, in});
  }
  return bound;
}

// The best rings so far.
class Best {
 public:
  Best(const Host& host, std::size_t most) : host_(host), most_(most), bound_(bound_of(host)) {}

  void offer(std::int64_t speed, std::vector<std::vector<std::size_t>> rings) {
    const std::int64_t total = speed * static_cast<std::int64_t>(rings.size());
    // A hundredth more or less is rounding of parts.
    const bool more_rings = !rings.empty() && rings.size() > found_.rings.size() && total * 100 >= total_ * 99 &&
                            over_switch(host_, rings.front());
    if (total * 99 <= total_ * 100 && !more_rings) return;
    total_ = std::max(total, total_);
    found_ = {std::move(rings), speed};
  }

  bool empty() const { return found_.rings.empty(); }
  bool cannot_win(std::int64_t speed) const { return speed * static_cast<std::int64_t>(most_) < total_; }
  bool at_bound() const { return total_ * 100 >= bound_ * 99; }
  FoundRings take() {
    std::sort(found_.rings.begin(), found_.rings.end());
    return std::move(found_);
  }

 private:
  const Host& host_;
  std::size_t most_;
  std::int64_t bound_;
  std::int64_t total_ = 0;
  FoundRings found_;
};

// True if the rings of this speed are few enough to be all known.
bool try_all_known(const Host& host, std::int64_t speed, std::size_t most, Best& best) {
  const std::vector<std::vector<std::size_t>> known = AllRings(host, speed).take();
  std::vector<std::size_t> order(known.size());
  std::iota(order.begin(), order.end(), 0);
  Random random(1);
  for (int attempt = 0; !known.empty() && attempt < kMaxShuffles; ++attempt) {
    best.offer(speed, Packing(host, speed, most, 0).pack(known, order, attempt % 2 == 0));
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  }
  return !known.empty();
}

FoundRings search(const Host& host, std::size_t most) {
  Best best(host, most);
  int steps = 0;
  for (const std::int64_t speed : host.speeds()) {
    if (best.cannot_win(speed)) break;
    if (try_all_known(host, speed, most, best)) continue;
    for (int attempt = 0; attempt < kMaxAttempts && steps < kMaxAllSteps; ++attempt) {
      Packing packing(host, speed, most, static_cast<std::uint64_t>(attempt / 2));
      best.offer(speed, packing.pack(attempt % 2 == 0));
      steps += packing.steps();
      if (best.empty() && attempt == kHopeless) break;  // there seems to be no ring at this speed
      if (best.at_bound()) break;
    }
  }
  return best.take();
}

}  // namespace

FoundRings search_rings(PathFinder& finder, const Graph& graph, const std::vector<int>& devices, std::size_t most) {
  FoundRings found = search(Host(finder, graph, devices, PathClass::Nvl), most);
  if (found.rings.empty()) found = search(Host(finder, graph, devices, PathClass::None), most);
  return found;
}

}  // namespace weft::topology
