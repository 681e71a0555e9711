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
#include <numeric>
#include <utility>

#include "topology/ring_host.hpp"
#include "topology/ring_packing.hpp"

namespace weft::topology {
namespace {

constexpr int kMaxAttempts = 100;            // with one speed
constexpr int kMaxAllSteps = 300'000;        // of all of them
constexpr int kHopeless = 20;                // attempts without any ring
constexpr std::size_t kMaxKnownRings = 200;  // that are all looked at
constexpr int kMaxKnownSteps = 200'000;
constexpr int kMaxShuffles = 200;

// All rings of a speed, where they are few: on sparsely joined devices. Which of them are taken then matters more than
// how they are found.
class AllRings {
 public:
  AllRings(const RingHost& host, std::int64_t speed) : host_(host), speed_(speed), visited_(host.count(), false) {
    order_.push_back(0);
    visited_[0] = true;
    complete_ = extend();
  }

  // Empty where they are too many to be found.
  Rings take() { return complete_ ? std::move(rings_) : Rings(); }

 private:
  bool extend() {
    const std::size_t last = order_.back();
    if (order_.size() == host_.count()) {
      if (host_.pair(last, 0).width >= speed_) rings_.push_back(order_);
      return rings_.size() <= kMaxKnownRings;
    }
    for (std::size_t next = 1; next < host_.count(); ++next) {
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

  const RingHost& host_;
  std::int64_t speed_;
  Rings rings_;
  std::vector<std::size_t> order_;
  std::vector<bool> visited_;
  int steps_ = 0;
  bool complete_ = false;
};

// Whether neighbours are joined by a switch of NVLink or the like: one ring does not keep all its links busy.
bool over_switch(const RingHost& host, const std::vector<std::size_t>& ring) {
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const RingPair& pair = host.pair(ring[i], ring[(i + 1) % ring.size()]);
    if (pair.path_class != PathClass::Nvl || pair.hops.size() < 2) return false;
  }
  return true;
}

// The best rings so far.
class Best {
 public:
  Best(const RingHost& host, std::size_t most) : host_(host), most_(most), bound_(host.bound()) {}

  void offer(std::int64_t speed, Rings rings) {
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
  const RingHost& host_;
  std::size_t most_;
  std::int64_t bound_;
  std::int64_t total_ = 0;
  FoundRings found_;
};

// True if the rings of this speed are few enough to be all known.
bool try_all_known(const RingHost& host, std::int64_t speed, std::size_t most, Best& best) {
  const Rings known = AllRings(host, speed).take();
  std::vector<std::size_t> order(known.size());
  std::iota(order.begin(), order.end(), 0);
  SmallRandom random(1);
  for (int attempt = 0; !known.empty() && attempt < kMaxShuffles; ++attempt) {
    best.offer(speed, RingPacking(host, speed, most, 0).pack(known, order, attempt % 2 == 0));
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  }
  return !known.empty();
}

FoundRings search(const RingHost& host, std::size_t most) {
  Best best(host, most);
  int steps = 0;
  for (const std::int64_t speed : host.speeds()) {
    if (best.cannot_win(speed)) break;
    if (try_all_known(host, speed, most, best)) continue;
    for (int attempt = 0; attempt < kMaxAttempts && steps < kMaxAllSteps; ++attempt) {
      RingPacking packing(host, speed, most, static_cast<std::uint64_t>(attempt / 2));
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
  FoundRings found = search(RingHost(finder, graph, devices, PathClass::Nvl), most);
  if (found.rings.empty()) found = search(RingHost(finder, graph, devices, PathClass::None), most);
  return found;
}

}  // namespace weft::topology
