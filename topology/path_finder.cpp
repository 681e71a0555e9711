// Best paths: the width of the widest path first (a search that maximises the narrowest link), then, among links at
// least that wide, the shortest (Dijkstra). One search over labels "widest, then shortest" would be wrong: a wide
// detour early on can hide a short path that is just as wide in the end.
#include "topology/path_finder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <tuple>

#include "base/assert.hpp"

namespace weft::topology {
namespace {

constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

// What a path has passed, for naming its class.
struct Passed {
  bool network = false;
  bool device_links_only = true;
  bool far = false;  // between sockets or NUMA nodes
  bool cpu = false;
  int numas = 0;
  int host_bridges = 0;
  int switches = 0;
};

PathClass name_of(const Passed& passed) {
  if (passed.network) return PathClass::Net;
  if (passed.device_links_only) return PathClass::Nvl;
  if (passed.far || passed.numas > 1) return PathClass::Sys;
  if (passed.host_bridges == 1) return PathClass::Phb;
  if (passed.host_bridges > 1 || passed.cpu) return PathClass::Node;
  return passed.switches <= 1 ? PathClass::Pix : PathClass::Pxb;
}

}  // namespace

bool is_device_link(LinkKind kind) {
  return kind == LinkKind::NvLink || kind == LinkKind::Xgmi || kind == LinkKind::C2c;
}

std::int64_t width_kbs(double bandwidth_gbs) { return std::llround(bandwidth_gbs * 1e6); }
std::int64_t latency_ps(double latency_us) { return std::llround(latency_us * 1e6); }

bool is_host_bridge(const Graph& graph, int id) {
  const Node& node = graph.nodes[static_cast<std::size_t>(id)];
  if (node.kind != NodeKind::PciBridge || node.parent < 0) return node.kind == NodeKind::PciBridge;
  const NodeKind above = graph.nodes[static_cast<std::size_t>(node.parent)].kind;
  return above != NodeKind::PciBridge && above != NodeKind::PciSwitch;
}

PathFinder::PathFinder(const Graph& graph) : graph_(graph) {
  const std::size_t count = graph.nodes.size();
  first_edge_.assign(count + 1, 0);
  for (const Link& link : graph.links) {
    ++first_edge_[static_cast<std::size_t>(link.a) + 1];
    ++first_edge_[static_cast<std::size_t>(link.b) + 1];
  }
  for (std::size_t i = 0; i < count; ++i) first_edge_[i + 1] += first_edge_[i];
  edges_.resize(graph.links.size() * 2);
  std::vector<int> fill(first_edge_.begin(), first_edge_.end() - 1);
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const Link& link = graph.links[i];
    const Edge edge{static_cast<int>(i),         link.b, width_kbs(link.bandwidth_gbs),
                    latency_ps(link.latency_us), true,   link.kind == LinkKind::Network};
    edges_[static_cast<std::size_t>(fill[static_cast<std::size_t>(link.a)]++)] = edge;
    Edge back = edge;
    back.to = link.a;
    back.forward = false;
    edges_[static_cast<std::size_t>(fill[static_cast<std::size_t>(link.b)]++)] = back;
  }
  for (std::size_t i = 0; i < count; ++i)
    if (graph.nodes[i].kind == NodeKind::NetworkSwitch)
      std::stable_sort(edges_.begin() + first_edge_[i], edges_.begin() + first_edge_[i + 1],
                       [&](const Edge& a, const Edge& b) { return host_of(a.to) < host_of(b.to); });
  is_leaf_.assign(count, false);
  wanted_switch_.assign(count, 0);
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::NetworkSwitch) continue;
    const auto first = edges_.begin() + first_edge_[static_cast<std::size_t>(node.id)];
    const auto last = edges_.begin() + first_edge_[static_cast<std::size_t>(node.id) + 1];
    is_leaf_[static_cast<std::size_t>(node.id)] =
        std::count_if(first, last, [&](const Edge& edge) { return host_of(edge.to) < 0; }) <= 1;
  }
  numa_count_.assign(count, 0);
  for (const Node& node : graph.nodes)
    if (node.kind == NodeKind::Numa && node.parent >= 0) ++numa_count_[static_cast<std::size_t>(node.parent)];
  for (const StatedClass& stated : graph.stated) stated_.emplace(std::pair(stated.a, stated.b), stated.path_class);
  labels_.resize(count * kPhases);
  leaves_of_host_.resize(static_cast<std::size_t>(graph.hosts()));
  for (const Link& link : graph.links) {
    if (link.kind != LinkKind::Network) continue;
    for (const auto& [end, other] : {std::pair(link.a, link.b), std::pair(link.b, link.a)})
      if (host_of(end) >= 0 && host_of(other) < 0)
        leaves_of_host_[static_cast<std::size_t>(host_of(end))].push_back(other);
  }
  wanted_host_.assign(count + 1, 0);
}

int PathFinder::start_state() const {
  return from_ * kPhases + (graph_.nodes[static_cast<std::size_t>(from_)].host < 0 ? kNetwork : kHome);
}

int PathFinder::target_state(int to) const {
  const int host = graph_.nodes[static_cast<std::size_t>(to)].host;
  if (host < 0) return to * kPhases + kNetwork;
  return to * kPhases + (host == graph_.nodes[static_cast<std::size_t>(from_)].host ? kHome : kAway);
}

const PathFinder::Label* PathFinder::label_of(int to) const {
  const Label& label = labels_[static_cast<std::size_t>(target_state(to))];
  return label.round == round_ ? &label : nullptr;
}

// The state behind an edge, or -1 where a path may not go. GPUs, storage and core groups are ends; a NIC is passed only
// between its host and the network; a path that came from the network does not return to it, and enters no host without
// a target.
int PathFinder::next_state(int state, const Edge& edge) const {
  const int at = state / kPhases;
  const int phase = state % kPhases;
  const NodeKind kind = graph_.nodes[static_cast<std::size_t>(at)].kind;
  if (at != from_) {
    if (kind == NodeKind::Gpu || kind == NodeKind::CoreGroup || kind == NodeKind::Storage) return -1;
    if (kind == NodeKind::Nic && edge.network != (phase == kHome)) return -1;
  }
  if (!edge.network) return edge.to * kPhases + phase;
  if (phase == kAway || !leaves_host_) return -1;
  const int host = graph_.nodes[static_cast<std::size_t>(edge.to)].host;
  if (host < 0) return kind == NodeKind::NetworkSwitch && is_dead_end(edge.to) ? -1 : edge.to * kPhases + kNetwork;
  const bool enter = wanted_host_[static_cast<std::size_t>(host)] == call_ &&
                     host != graph_.nodes[static_cast<std::size_t>(from_)].host;
  return enter ? edge.to * kPhases + kAway : -1;
}

// In a fat tree of a thousand leaves all but two lead nowhere.
bool PathFinder::is_dead_end(int network_switch) const {
  const auto at = static_cast<std::size_t>(network_switch);
  return is_leaf_[at] && wanted_switch_[at] != call_;
}

void PathFinder::offer(int state, const Label& label, Goal goal) {
  Label& old = labels_[static_cast<std::size_t>(state)];
  if (old.round == round_) {
    const bool better = goal == Goal::Widest ? label.width > old.width
                                             : std::tie(label.latency, label.hops) < std::tie(old.latency, old.hops);
    if (old.done || !better) return;
  }
  old = label;
  queue_.push_back(goal == Goal::Widest ? Entry{-label.width, 0, 0, state}
                                        : Entry{0, label.latency, label.hops, state});
  std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
}

// Equal entries leave the queue in order of their state, so that ties fall alike everywhere.
void PathFinder::search(Goal goal, std::int64_t least_width) {
  ++round_;
  queue_.clear();
  offer(start_state(), Label{round_, false, kUnbounded, 0, 0, -1, -1}, goal);
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    const int state = queue_.back().state;
    queue_.pop_back();
    if (labels_[static_cast<std::size_t>(state)].done) continue;
    labels_[static_cast<std::size_t>(state)].done = true;
    expand(state, goal, least_width);
  }
}

// A negative width stands for NVLink, XGMI and C2C alone.
void PathFinder::expand(int state, Goal goal, std::int64_t least_width) {
  const Label here = labels_[static_cast<std::size_t>(state)];
  const auto follow = [&](int first, int last) {
    for (int e = first; e < last; ++e) {
      const Edge& edge = edges_[static_cast<std::size_t>(e)];
      if (edge.width < std::abs(least_width)) continue;
      if (least_width < 0 && !is_device_link(graph_.links[static_cast<std::size_t>(edge.link)].kind)) continue;
      const int next = next_state(state, edge);
      if (next < 0) continue;
      offer(
          next,
          Label{round_, false, std::min(here.width, edge.width), here.latency + edge.latency, here.hops + 1, state, e},
          goal);
    }
  };
  const auto at = static_cast<std::size_t>(state / kPhases);
  const int first = first_edge_[at];
  const int last = first_edge_[at + 1];
  if (graph_.nodes[at].kind != NodeKind::NetworkSwitch) return follow(first, last);
  // A switch may join thousands of hosts; its edges are sorted by host, and only those of targets and of other switches
  // matter.
  const auto host_before = [&](const Edge& edge, int host) { return host_of(edge.to) < host; };
  const auto follow_host = [&](int host) {
    const auto from = std::lower_bound(edges_.begin() + first, edges_.begin() + last, host, host_before);
    const auto to = std::lower_bound(from, edges_.begin() + last, host + 1, host_before);
    follow(static_cast<int>(from - edges_.begin()), static_cast<int>(to - edges_.begin()));
  };
  follow_host(-1);
  for (int host : wanted_hosts_) follow_host(host);
}

void PathFinder::want(int from, const std::vector<int>& to) {
  from_ = from;
  ++call_;
  wanted_hosts_.clear();
  const int home = graph_.nodes[static_cast<std::size_t>(from)].host;
  leaves_host_ = home < 0;
  for (int target : to) {
    WEFT_ASSERT(target >= 0 && target < static_cast<int>(graph_.nodes.size()));
    const int host = graph_.nodes[static_cast<std::size_t>(target)].host;
    if (host != home) leaves_host_ = true;
    if (host < 0) wanted_switch_[static_cast<std::size_t>(target)] = call_;
    if (host < 0 || wanted_host_[static_cast<std::size_t>(host)] == call_) continue;
    wanted_host_[static_cast<std::size_t>(host)] = call_;
    wanted_hosts_.push_back(host);
    for (int leaf : leaves_of_host_[static_cast<std::size_t>(host)])
      wanted_switch_[static_cast<std::size_t>(leaf)] = call_;
  }
}

Path PathFinder::path_to(int to) const {
  Path path;
  path.from = from_;
  path.to = to;
  if (to == from_) {
    path.path_class = PathClass::Loc;
    const Node& node = graph_.nodes[static_cast<std::size_t>(to)];
    path.bandwidth_gbs = node.loopback_gbs.value_or(0);
    path.latency_us = node.loopback_us.value_or(0);
    return path;
  }
  if (label_of(to) == nullptr) return path;
  for (int state = target_state(to); labels_[static_cast<std::size_t>(state)].edge >= 0;
       state = labels_[static_cast<std::size_t>(state)].previous_state) {
    const Edge& edge = edges_[static_cast<std::size_t>(labels_[static_cast<std::size_t>(state)].edge)];
    path.hops.push_back(Hop{edge.link, edge.forward});
  }
  std::reverse(path.hops.begin(), path.hops.end());
  for (const Hop& hop : path.hops) {
    const Link& link = graph_.links[static_cast<std::size_t>(hop.link)];
    path.latency_us += link.latency_us;
    if (path.binding_link >= 0 && link.bandwidth_gbs >= path.bandwidth_gbs) continue;
    path.binding_link = hop.link;
    path.bandwidth_gbs = link.bandwidth_gbs;
  }
  path.path_class = class_of(path);
  return path;
}

PathClass PathFinder::class_of(const Path& path) const {
  const PathClass passed = classify(path);
  if (passed == PathClass::Nvl || stated_.empty()) return passed;
  const auto found = stated_.find(std::minmax(path.from, path.to));
  return found == stated_.end() ? passed : found->second;
}

PathClass PathFinder::classify(const Path& path) const {
  Passed passed;
  int at = path.from;
  for (std::size_t i = 0; i <= path.hops.size(); ++i) {
    const Node& node = graph_.nodes[static_cast<std::size_t>(at)];
    const bool inside = i > 0 && i < path.hops.size();
    switch (node.kind) {
      case NodeKind::Machine:
        passed.cpu = true, passed.far |= inside;
        break;
      // A package joins its NUMA nodes; with several of them, what passes it passes between them.
      case NodeKind::Package:
        passed.cpu = true, passed.far |= inside && numa_count_[static_cast<std::size_t>(at)] > 1;
        break;
      case NodeKind::Numa:
        passed.cpu = true, ++passed.numas;
        break;
      case NodeKind::CoreGroup:
        passed.cpu = true;
        break;
      // Root ports and the ports of a switch belong to the host bridge or the switch that is counted.
      case NodeKind::PciBridge:
        if (is_host_bridge(graph_, at)) ++passed.host_bridges;
        break;
      case NodeKind::PciSwitch:
        ++passed.switches;
        break;
      default:
        break;
    }
    if (i == path.hops.size()) break;
    const Hop& hop = path.hops[i];
    const Link& link = graph_.links[static_cast<std::size_t>(hop.link)];
    passed.network |= link.kind == LinkKind::Network;
    passed.far |= link.kind == LinkKind::CpuSocket;
    passed.device_links_only &= is_device_link(link.kind);
    at = hop.forward ? link.b : link.a;
  }
  passed.device_links_only &= !passed.cpu;
  return name_of(passed);
}

Path PathFinder::best_path(int from, int to) { return best_paths(from, {to}).front(); }

std::vector<Path> PathFinder::best_paths(int from, const std::vector<int>& to) {
  WEFT_ASSERT(from >= 0 && from < static_cast<int>(graph_.nodes.size()));
  want(from, to);
  std::vector<Path> paths(to.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    paths[i].from = from;
    paths[i].to = to[i];
    if (to[i] == from) paths[i] = path_to(to[i]);
  }
  const auto find_paths = [&](bool device_links_only) {
    const int sign = device_links_only ? -1 : 1;
    search(Goal::Widest, sign);
    std::map<std::int64_t, std::vector<std::size_t>> by_width;  // width -> positions in `to`
    for (std::size_t i = 0; i < to.size(); ++i)
      if (const Label* label = label_of(to[i]); label != nullptr && paths[i].path_class == PathClass::None)
        by_width[label->width].push_back(i);
    for (const auto& [width, positions] : by_width) {
      search(Goal::Shortest, sign * width);
      for (std::size_t i : positions) paths[i] = path_to(to[i]);
    }
  };
  // What NVLink or the like joins, drivers send over it, though PCIe may be wider than one link of it.
  if (graph_.nodes[static_cast<std::size_t>(from)].kind == NodeKind::Gpu) find_paths(true);
  find_paths(false);
  return paths;
}

}  // namespace weft::topology
