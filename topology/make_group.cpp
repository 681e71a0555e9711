// make_group(): ranks in rings and trees that follow the topology.
//
//   ring k:   [host 0: enter at device e(0,k) ... leave] -> [host 1: enter at e(1,k) ... leave] -> ... -> back to host
//   0
//
// The ranks of a host are consecutive. Ring k goes through a host along one of its cycles, entering at the device
// nearest the k-th NIC, so that each ring uses other NICs; it leaves at that device's predecessor on the cycle. Where
// NICs are joined to different switches, rings keep to these rails (rail_rings.hpp). On one host the cycles are the
// rings. A double tree is laid along every ring.
#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "base/assert.hpp"
#include "topology/host_rings.hpp"
#include "topology/host_signature.hpp"
#include "topology/network.hpp"
#include "topology/path_finder.hpp"
#include "topology/rail_rings.hpp"
#include "topology/ring_rates.hpp"
#include "topology/rings.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxRings = 8;
constexpr int kMaxChoiceSteps = 2'000;

std::vector<HostRings> split_by_host(const Graph& graph, const std::vector<int>& placement) {
  std::map<int, HostRings> hosts;
  for (std::size_t rank = 0; rank < placement.size(); ++rank) {
    HostRings& host = hosts[graph.nodes[static_cast<std::size_t>(placement[rank])].host];
    host.ranks.push_back(static_cast<int>(rank));
    host.ranks_on[placement[rank]].push_back(static_cast<int>(rank));
  }
  std::vector<HostRings> result;
  for (auto& [number, host] : hosts) result.push_back(std::move(host));
  return result;
}

// The position of the path that is nearest, then widest, then shortest.
std::size_t nearest_of(const std::vector<Path>& paths) {
  const auto key = [&](std::size_t i) {
    return std::make_tuple(paths[i].path_class, -width_kbs(paths[i].bandwidth_gbs), latency_ps(paths[i].latency_us));
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < paths.size(); ++i)
    if (key(i) < key(best)) best = i;
  return best;
}

// For each NIC in turn the nearest device no earlier NIC has taken, until devices or NICs run out.
std::vector<int> entries_of(PathFinder& finder, const std::vector<int>& nics, std::vector<int> devices) {
  std::vector<int> entries;
  for (int nic : nics) {
    if (devices.empty() || entries.size() == kMaxRings) break;
    const std::size_t best = nearest_of(finder.best_paths(nic, devices));
    entries.push_back(devices[best]);
    devices.erase(devices.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return entries;
}

// What each device uses: the NIC whose entry it is, else the nearest. A host without NICs has one entry.
void find_rails(PathFinder& finder, const std::vector<int>& nics, HostRings& host) {
  for (std::size_t k = 0; k < host.entries.size(); ++k) host.rail_of[host.entries[k]] = k;
  for (const auto& [device, ranks] : host.ranks_on) {
    if (host.rail_of.contains(device)) continue;
    host.rail_of[device] = nics.empty() ? 0 : nearest_of(finder.best_paths(device, nics));
  }
}

int predecessor(const std::vector<int>& cycle, int device) { return device_behind(cycle, device, cycle.size() - 1); }

// Gives each ring one of the host's cycles, different ones where it can, so that no two rings leave at the same device.
// All rings on the first cycle always do; mixing cycles spreads direct links too, and is looked for within a bound.
class CycleChoice {
 public:
  CycleChoice(const HostRings& host, std::size_t rings) : host_(host), rings_(rings) {}

  std::vector<std::size_t> choose() {
    if (!extend()) chosen_.assign(rings_, 0);
    return chosen_;
  }

 private:
  bool extend() {
    const std::size_t k = chosen_.size();
    if (k == rings_) return true;
    for (std::size_t i = 0; i < host_.cycles.size() && steps_ < kMaxChoiceSteps; ++i, ++steps_) {
      const std::size_t cycle = (k + i) % host_.cycles.size();
      const int exit = predecessor(host_.cycles[cycle], host_.entries[k]);
      if (std::find(exits_.begin(), exits_.end(), exit) != exits_.end()) continue;
      chosen_.push_back(cycle);
      exits_.push_back(exit);
      if (extend()) return true;
      chosen_.pop_back();
      exits_.pop_back();
    }
    return false;
  }

  const HostRings& host_;
  std::size_t rings_;
  std::vector<std::size_t> chosen_;
  std::vector<int> exits_;
  int steps_ = 0;
};

void append_host(const HostRings& host, std::size_t cycle, int entry, std::vector<int>& ring) {
  const std::vector<int>& order = host.cycles[cycle];
  const std::size_t start = position_in(order, entry);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::vector<int>& ranks = host.ranks_on.at(order[(start + i) % order.size()]);
    ring.insert(ring.end(), ranks.begin(), ranks.end());
  }
}

std::vector<std::vector<int>> rings_on_one_host(const HostRings& host) {
  std::vector<std::vector<int>> rings;
  for (std::size_t cycle = 0; cycle < host.cycles.size() && cycle < kMaxRings; ++cycle) {
    rings.emplace_back();
    append_host(host, cycle, host.cycles[cycle].front(), rings.back());
  }
  return rings;
}

// Ring k enters every host at its k-th entry.
std::vector<std::vector<int>> rings_by_entry(std::span<const HostRings> hosts, std::size_t count) {
  std::vector<std::vector<int>> rings(count);
  for (const HostRings& host : hosts) {
    const std::vector<std::size_t> cycles = CycleChoice(host, count).choose();
    for (std::size_t k = 0; k < count; ++k) append_host(host, cycles[k], host.entries[k], rings[k]);
  }
  return rings;
}

// Rings that keep to their rails need other ways through hosts, which may share more links there. Where all hosts are
// alike, as many as close a ring tell which is better.
class RailChoice {
 public:
  RailChoice(const Graph& graph, PathFinder& finder, const std::vector<int>& placement)
      : graph_(graph), finder_(finder), placement_(placement) {}

  std::vector<std::vector<int>> choose(const std::vector<HostRings>& hosts, std::size_t count, bool alike) {
    const std::size_t closing = hosts.size() % 2 == 0 ? 2 : 3;
    const std::span<const HostRings> some = std::span(hosts).first(alike ? closing : hosts.size());
    const std::vector<std::vector<int>> on_rails = rings_on_rails(some, count);
    if (on_rails.empty() || rate(on_rails) < rate(rings_by_entry(some, count))) return {};
    return rings_on_rails(hosts, count);
  }

 private:
  std::int64_t rate(const std::vector<std::vector<int>>& rings) {
    return width_kbs(total_gbs(ring_rates(graph_, finder_, placement_, rings)));
  }

  const Graph& graph_;
  PathFinder& finder_;
  const std::vector<int>& placement_;
};

std::size_t rings_through(std::vector<HostRings>& hosts) {
  std::size_t count = kMaxRings;
  for (HostRings& host : hosts) {
    if (host.entries.empty()) host.entries.push_back(host.cycles.front().front());
    count = std::min(count, host.entries.size());
  }
  return count;
}

// Searches each kind of host once.
class CycleFinder {
 public:
  CycleFinder(const Graph& graph, PathFinder& finder) : graph_(graph), finder_(finder), signatures_(graph) {}

  std::vector<std::vector<int>> cycles(int host, const std::vector<int>& devices) {
    const auto [known, fresh] = known_.try_emplace(signatures_.of(host, devices));
    if (fresh) {
      std::vector<std::vector<int>> found = host_cycles(graph_, finder_, devices);
      for (std::vector<int>& cycle : found)
        for (int& node : cycle) node = signatures_.position(node);
      known->second = std::move(found);
    }
    std::vector<std::vector<int>> cycles = known->second;
    for (std::vector<int>& cycle : cycles)
      for (int& position : cycle) position = signatures_.node(host, position);
    return cycles;
  }

  // Of hosts that were asked for.
  std::size_t kinds() const { return known_.size(); }

 private:
  const Graph& graph_;
  PathFinder& finder_;
  HostSignatures signatures_;
  std::map<std::vector<std::int64_t>, std::vector<std::vector<int>>> known_;  // of positions
};

}  // namespace

Group make_group(const Graph& graph, const std::vector<int>& placement) {
  WEFT_ASSERT(!placement.empty());
  PathFinder finder(graph);
  CycleFinder cycle_finder(graph, finder);
  const std::vector<std::vector<int>> nics = network_nics(graph);
  std::vector<HostRings> hosts = split_by_host(graph, placement);
  const bool on_rails = hosts.size() > 1 && has_rails(graph, nics);
  Group group;
  group.size = static_cast<int>(placement.size());
  for (HostRings& host : hosts) {
    std::vector<int> devices;
    for (const auto& [device, ranks] : host.ranks_on) devices.push_back(device);
    const int number = graph.nodes[static_cast<std::size_t>(devices.front())].host;
    host.cycles = cycle_finder.cycles(number, devices);
    if (hosts.size() > 1)
      host.entries = entries_of(finder, nics[static_cast<std::size_t>(number)], host.cycles.front());
    if (on_rails) find_rails(finder, nics[static_cast<std::size_t>(number)], host);
    group.hosts.push_back(host.ranks);
  }
  if (hosts.size() == 1) {
    group.rings = rings_on_one_host(hosts.front());
  } else {
    const std::size_t count = rings_through(hosts);
    if (on_rails) group.rings = RailChoice(graph, finder, placement).choose(hosts, count, cycle_finder.kinds() == 1);
    if (group.rings.empty()) group.rings = rings_by_entry(hosts, count);
  }
  for (const std::vector<int>& ring : group.rings)
    for (Tree& tree : double_tree(ring)) group.trees.push_back(std::move(tree));
  return group;
}

}  // namespace weft::topology
