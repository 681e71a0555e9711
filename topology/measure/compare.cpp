// Measured beside nominal, and a graph corrected by what was measured.
#include <algorithm>
#include <map>

#include "topology/measure/measure.hpp"
#include "topology/path_finder.hpp"
#include "topology/sources.hpp"

namespace weft::topology {
namespace {

bool is_single_core(const Measurement& measured) { return measured.what == kCopy; }

// What was seen through a link, one way.
struct Seen {
  double gbs = 0;
  bool binds = false;  // on a path whose rate says something of the link
};

class Corrector {
 public:
  Corrector(const Survey& survey, Graph& graph) : survey_(survey), graph_(graph), finder_(survey.graph) {}

  void correct() {
    for (const Measurement& measured : survey_.measurements)
      if (measured.from == measured.to)
        correct_part(measured);
      else
        see(measured);
    add_what_went_at_once();
    for (const auto& [key, seen] : seen_) correct_link(key.first, seen);
  }

 private:
  using Key = std::pair<int, bool>;  // link, forward

  void correct_part(const Measurement& measured) {
    Node& node = graph_.nodes[static_cast<std::size_t>(measured.from)];
    if (measured.at_once || node.kind == NodeKind::Numa) return;
    node.loopback_gbs = measured.bandwidth_gbs;
    if (measured.latency_us) node.loopback_us = measured.latency_us;
  }

  void see(const Measurement& measured) {
    const Path path = finder_.best_path(measured.from, measured.to);
    for (const Hop& hop : path.hops) {
      Seen& seen = seen_[{hop.link, hop.forward}];
      if (!measured.at_once) seen.gbs = std::max(seen.gbs, measured.bandwidth_gbs);
      seen.binds |= hop.link == path.binding_link && !measured.at_once && !is_single_core(measured);
    }
  }

  // What ran together adds up on the links that it shares.
  void add_what_went_at_once() {
    std::map<std::string, std::map<Key, double>> sums;
    for (const Measurement& measured : survey_.measurements) {
      if (!measured.at_once || measured.from == measured.to) continue;
      for (const Hop& hop : finder_.best_path(measured.from, measured.to).hops)
        sums[measured.what][{hop.link, hop.forward}] += measured.bandwidth_gbs;
    }
    for (const auto& [what, by_link] : sums)
      for (const auto& [key, sum] : by_link) seen_[key].gbs = std::max(seen_[key].gbs, sum);
  }

  void correct_link(int index, const Seen& seen) {
    Link& link = graph_.links[static_cast<std::size_t>(index)];
    const bool measured_before = link.source == kMeasured;
    const bool wider = seen.gbs > link.bandwidth_gbs;
    const bool narrower = seen.binds && !measured_before && seen.gbs < link.bandwidth_gbs;
    if (!wider && !narrower) return;
    link.bandwidth_gbs = seen.gbs;
    link.source = kMeasured;
  }

  const Survey& survey_;
  Graph& graph_;
  PathFinder finder_;
  std::map<Key, Seen> seen_;
};

}  // namespace

std::vector<Comparison> compare(const Survey& survey, Locality& locality) {
  std::vector<Comparison> comparisons;
  for (const Measurement& measured : survey.measurements) {
    Comparison one;
    one.measured = &measured;
    const Path path = locality.finder().best_path(measured.from, measured.to);
    one.nominal_gbs = path.bandwidth_gbs;
    one.binding_link = path.binding_link;
    one.assumed = path.hops.empty();
    for (const Hop& hop : path.hops)
      one.assumed |= survey.graph.links[static_cast<std::size_t>(hop.link)].source == kAssumed;
    comparisons.push_back(one);
  }
  return comparisons;
}

Graph corrected(const Survey& survey) {
  Graph graph = survey.graph;
  Corrector(survey, graph).correct();
  return graph;
}

}  // namespace weft::topology
