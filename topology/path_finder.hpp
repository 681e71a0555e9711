// PathFinder: best paths on one graph, with the adjacency built once. Graph::best_path makes one per call; whoever asks
// often (rings, matrices, cost model) keeps one.
//
// Widths and latencies are compared as integers (KB/s, ps), so that all machines choose the same path.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "weft/graph.hpp"

namespace weft::topology {

// Between GPUs, or a GPU and its switch or CPU, beside PCIe: NVLink, XGMI, C2C.
bool is_device_link(LinkKind kind);

// The integers that choices are made on.
std::int64_t width_kbs(double bandwidth_gbs);
std::int64_t latency_ps(double latency_us);

// The graph must outlive the finder, must not change meanwhile and must pass check(). One thread at a time.
class PathFinder {
 public:
  explicit PathFinder(const Graph& graph);

  Path best_path(int from, int to);
  std::vector<Path> best_paths(int from, const std::vector<int>& to);
  // Calls of the two so far: what tests hold rules to, whose time must not grow with the pairs of devices.
  std::uint32_t calls() const { return call_; }

 private:
  // Where a search stands: a path starts inside a host (or the network), may leave it once, and may enter one other
  // host.
  enum Phase : int { kHome = 0, kNetwork = 1, kAway = 2, kPhases = 3 };
  enum class Goal { Widest, Shortest };

  struct Edge {
    int link;
    int to;
    std::int64_t width;
    std::int64_t latency;
    bool forward;
    bool network;
  };
  // What a search knows of a state (node * kPhases + phase). Labels of earlier searches are told by their round.
  struct Label {
    std::uint32_t round = 0;
    bool done = false;
    std::int64_t width = 0;
    std::int64_t latency = 0;
    int hops = 0;
    int previous_state = -1;
    int edge = -1;
  };
  struct Entry {
    std::int64_t narrowness;
    std::int64_t latency;
    int hops;
    int state;
    auto operator<=>(const Entry&) const = default;
  };

  void want(int from, const std::vector<int>& to);
  void search(Goal goal, std::int64_t least_width);
  void expand(int state, Goal goal, std::int64_t least_width);
  int host_of(int node) const { return graph_.nodes[static_cast<std::size_t>(node)].host; }
  void offer(int state, const Label& label, Goal goal);
  int next_state(int state, const Edge& edge) const;
  bool is_dead_end(int network_switch) const;
  int start_state() const;
  int target_state(int to) const;
  const Label* label_of(int to) const;
  Path path_to(int to) const;
  PathClass classify(const Path& path) const;
  PathClass class_of(const Path& path) const;  // what is stated, else by the nodes that it passes

  const Graph& graph_;
  std::vector<int> first_edge_;  // by node, into edges_
  std::vector<Edge> edges_;
  std::vector<int> numa_count_;               // by node: its NUMA children
  std::vector<bool> is_leaf_;                 // by node: a network switch that at most one other switch is joined to
  std::vector<std::uint32_t> wanted_switch_;  // by node: the call to which it, or a host below it, is a target
  std::map<std::pair<int, int>, PathClass> stated_;
  std::vector<Label> labels_;                     // by state
  std::vector<Entry> queue_;                      // a heap; the best entry is taken first
  std::vector<std::vector<int>> leaves_of_host_;  // by host: the switches that it is joined to
  std::vector<std::uint32_t> wanted_host_;        // by host: the call in which it holds a target
  std::vector<int> wanted_hosts_;                 // those of this call, in the order of the targets
  std::uint32_t round_ = 0;
  std::uint32_t call_ = 0;
  bool leaves_host_ = false;  // some target is not on the host of from_
  int from_ = 0;
};

// Whether the node is a PCI host bridge: the first bridge below CPU, NUMA node or machine.
bool is_host_bridge(const Graph& graph, int node);

}  // namespace weft::topology
