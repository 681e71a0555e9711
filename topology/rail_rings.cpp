// A ring that enters a host at one device of a cycle leaves it at the device before or behind, on another rail, unless
// two devices share a NIC. So hosts are passed in turn one way round and the other: what came to rail 7 by the first
// goes back to rail 0 by the second.
//
//   rail 0 -> [host 0: 0 1 2 .. 7] -> rail 7 -> [host 1: 7 6 5 .. 0] -> rail 0 -> ...
//
// With an odd number of hosts the last two have to be passed so that the ring closes; where their cycles do not allow
// it, it crosses rails once.
#include "topology/rail_rings.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace weft::topology {
namespace {

constexpr int kMaxSteps = 2'000;  // of one search

// Once through a host.
struct Way {
  std::size_t cycle = 0;
  bool backwards = true;
};

using Rails = std::vector<std::size_t>;  // by ring

int exit_of(const HostRings& host, const Way& way, int entry) {
  const std::vector<int>& cycle = host.cycles[way.cycle];
  return device_behind(cycle, entry, way.backwards ? 1 : cycle.size() - 1);
}

// A way through one host for each ring that enters it at the entry of its rail, so that all leave on different rails.
class Passage {
 public:
  using Allowed = std::function<bool(std::size_t ring, std::size_t rail)>;

  // `before`: the ways through the host before, of which the opposite ones are tried first.
  Passage(const HostRings& host, const Rails& in, const std::vector<Way>& before)
      : host_(host), in_(in), before_(before) {}

  // `allowed`: the rails on which a ring may leave.
  bool find(Allowed allowed) {
    allowed_ = std::move(allowed);
    ways_.clear();
    rails_.clear();
    steps_ = 0;
    return extend();
  }

  const std::vector<Way>& ways() const { return ways_; }
  const Rails& rails() const { return rails_; }

 private:
  bool extend() {
    const std::size_t ring = ways_.size();
    if (ring == in_.size()) return true;
    const Way& before = before_[ring];
    for (std::size_t i = 0; i < 2 * host_.cycles.size(); ++i) {
      if (++steps_ > kMaxSteps) return false;
      const Way way{(before.cycle + i / 2) % host_.cycles.size(), (i % 2 == 0) != before.backwards};
      const std::size_t rail = host_.rail_of.at(exit_of(host_, way, host_.entries[in_[ring]]));
      if (rail >= in_.size() || !allowed_(ring, rail)) continue;
      if (std::find(rails_.begin(), rails_.end(), rail) != rails_.end()) continue;
      ways_.push_back(way);
      rails_.push_back(rail);
      if (extend()) return true;
      ways_.pop_back();
      rails_.pop_back();
    }
    return false;
  }

  const HostRings& host_;
  const Rails& in_;
  const std::vector<Way>& before_;
  Allowed allowed_;
  std::vector<Way> ways_;
  Rails rails_;
  int steps_ = 0;
};

// Whether a host can be passed from one rail to another.
std::vector<std::vector<bool>> passable(const HostRings& host, std::size_t count) {
  std::vector<std::vector<bool>> passable(count, std::vector<bool>(count, false));
  for (std::size_t in = 0; in < count; ++in)
    for (std::size_t cycle = 0; cycle < host.cycles.size(); ++cycle)
      for (const bool backwards : {false, true})
        if (const std::size_t out = host.rail_of.at(exit_of(host, {cycle, backwards}, host.entries[in])); out < count)
          passable[in][out] = true;
  return passable;
}

void append_host(const HostRings& host, const Way& way, int entry, std::vector<int>& ring) {
  const std::vector<int>& cycle = host.cycles[way.cycle];
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const std::vector<int>& ranks = host.ranks_on.at(device_behind(cycle, entry, way.backwards ? cycle.size() - i : i));
    ring.insert(ring.end(), ranks.begin(), ranks.end());
  }
}

}  // namespace

bool has_rails(const Graph& graph, const std::vector<std::vector<int>>& nics) {
  std::map<int, int> switch_of;
  for (const Link& link : graph.links) {
    if (link.kind != LinkKind::Network) continue;
    switch_of[link.a] = link.b;
    switch_of[link.b] = link.a;
  }
  for (const std::vector<int>& host : nics)
    for (int nic : host) {
      const auto first = switch_of.find(host.front());
      const auto other = switch_of.find(nic);
      if (first != switch_of.end() && other != switch_of.end() && first->second != other->second) return true;
    }
  return false;
}

std::vector<std::vector<int>> rings_on_rails(std::span<const HostRings> hosts, std::size_t count) {
  Rails rails(count);
  std::vector<Way> ways(count);
  for (std::size_t k = 0; k < count; ++k) {
    rails[k] = k;
    ways[k].cycle = k;  // so that rings use different ones where they can
  }
  const std::vector<std::vector<bool>> last = passable(hosts.back(), count);
  std::vector<std::vector<int>> rings(count);
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    // Of the last host but one: whether the last can bring the ring back to where it began.
    const auto closes = [&](std::size_t ring, std::size_t rail) { return h + 2 != hosts.size() || last[rail][ring]; };
    const auto returns = [&](std::size_t ring, std::size_t rail) { return rail == ring && closes(ring, rail); };
    Passage passage(hosts[h], rails, ways);
    if (!passage.find(returns) && !passage.find(closes) && !passage.find([](std::size_t, std::size_t) { return true; }))
      return {};
    for (std::size_t k = 0; k < count; ++k)
      append_host(hosts[h], passage.ways()[k], hosts[h].entries[rails[k]], rings[k]);
    rails = passage.rails();
    ways = passage.ways();
  }
  return rings;
}

}  // namespace weft::topology
