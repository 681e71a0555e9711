// Depth first, with bounded steps.
#include "topology/ring_packing.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace weft::topology {
namespace {

constexpr int kMaxSteps = 2'000;  // of one depth-first search

}  // namespace

RingPacking::RingPacking(const RingHost& host, std::int64_t speed, std::size_t most, std::uint64_t seed)
    : host_(host),
      speed_(speed),
      most_(most),
      widest_first_(seed % 2 == 0),
      left_(host.capacity()),
      used_(host.count() * host.count(), 0) {
  preference_.resize(host.count());
  SmallRandom random(seed);
  for (std::size_t at = 0; at < host.count(); ++at) {
    for (std::size_t step = 1; step < host.count(); ++step) preference_[at].push_back((at + step) % host.count());
    for (std::size_t i = preference_[at].size(); seed > 0 && i > 1; --i)
      std::swap(preference_[at][i - 1], preference_[at][random.below(i)]);
  }
}

Rings RingPacking::pack(const Rings& known, const std::vector<std::size_t>& order, bool repeat) {
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

Rings RingPacking::pack(bool backwards) {
  while (rings_.size() < most_ && find()) {
    const std::vector<std::size_t> ring = order_;
    std::vector<std::size_t> reversed(ring.rbegin(), ring.rend());
    std::rotate(reversed.begin(), reversed.end() - 1, reversed.end());
    take(ring);
    if (backwards) take(reversed);
  }
  return std::move(rings_);
}

bool RingPacking::has_room(const RingPair& pair) const {
  return pair.width >= speed_ && std::all_of(pair.hops.begin(), pair.hops.end(),
                                             [&](int hop) { return left_[static_cast<std::size_t>(hop)] >= speed_; });
}

std::int64_t RingPacking::room(const RingPair& pair) const {
  std::int64_t least = pair.width;
  for (int hop : pair.hops) least = std::min(least, left_[static_cast<std::size_t>(hop)]);
  return least;
}

void RingPacking::change(const RingPair& pair, std::int64_t by) {
  for (int hop : pair.hops) left_[static_cast<std::size_t>(hop)] += by;
}

bool RingPacking::find() {
  order_.assign(1, 0);
  visited_.assign(host_.count(), false);
  visited_[0] = true;
  steps_ = 0;
  const std::vector<std::int64_t> before = left_;
  const bool found = extend();
  all_steps_ += steps_;
  left_ = before;  // take() takes it, if there is one
  return found;
}

// What the steps so far need is taken out of `left_` meanwhile.
bool RingPacking::extend() {
  const std::size_t last = order_.back();
  if (order_.size() == host_.count()) return has_room(host_.pair(last, 0));
  for (std::size_t next : candidates(last)) {
    if (++steps_ > kMaxSteps) return false;
    const RingPair& pair = host_.pair(last, next);
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

std::vector<std::size_t> RingPacking::candidates(std::size_t last) const {
  std::vector<std::tuple<PathClass, std::int64_t, int, std::size_t>> keyed;
  for (std::size_t i = 0; i < preference_[last].size(); ++i) {
    const std::size_t next = preference_[last][i];
    const RingPair& pair = host_.pair(last, next);
    if (!visited_[next] && has_room(pair))
      keyed.emplace_back(pair.path_class, widest_first_ ? -room(pair) : 0, used_[last * host_.count() + next], i);
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<std::size_t> result;
  for (const auto& key : keyed) result.push_back(preference_[last][std::get<3>(key)]);
  return result;
}

// The ring, if all of it still fits.
bool RingPacking::take(const std::vector<std::size_t>& ring) {
  if (rings_.size() == most_) return false;
  const std::vector<std::int64_t> before = left_;
  for (std::size_t i = 0; i < ring.size(); ++i) change(host_.pair(ring[i], ring[(i + 1) % ring.size()]), -speed_);
  if (std::any_of(left_.begin(), left_.end(), [](std::int64_t rest) { return rest < 0; })) {
    left_ = before;
    return false;
  }
  for (std::size_t i = 0; i < ring.size(); ++i) ++used_[ring[i] * host_.count() + ring[(i + 1) % ring.size()]];
  rings_.push_back(ring);
  return true;
}

}  // namespace weft::topology
