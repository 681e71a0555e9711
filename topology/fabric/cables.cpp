// Switches that share load, and cables as links.
#include "topology/fabric/cables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "topology/import/source_text.hpp"
#include "topology/rates.hpp"
#include "topology/sources.hpp"

namespace weft::topology {
namespace {

constexpr int kMaxFolds = 8;  // a fat tree of three levels needs two

// What a switch is joined to: (other end, rate in KB/s) -> number of cables.
using Joined = std::map<std::pair<int, long long>, int>;

std::vector<Joined> joined_of(const Cables& cables) {
  std::vector<Joined> joined(cables.switches.size());
  for (const Cables::Cable& cable : cables.cables) {
    const auto rate = static_cast<long long>(cable.gbs * 1e6);
    if (cable.a >= 0) ++joined[static_cast<std::size_t>(cable.a)][{cable.b, rate}];
    if (cable.b >= 0) ++joined[static_cast<std::size_t>(cable.b)][{cable.a, rate}];
  }
  return joined;
}

// The switch that each one becomes; false if all stay.
bool representatives(const Cables& cables, std::vector<int>& becomes) {
  const std::vector<Joined> joined = joined_of(cables);
  std::map<Joined, int> first_with;
  bool any = false;
  for (std::size_t i = 0; i < joined.size(); ++i) {
    becomes[i] = static_cast<int>(i);
    const bool above =
        std::all_of(joined[i].begin(), joined[i].end(), [](const auto& to) { return to.first.first >= 0; });
    if (!above || joined[i].empty()) continue;
    becomes[i] = first_with.try_emplace(joined[i], static_cast<int>(i)).first->second;
    any |= becomes[i] != static_cast<int>(i);
  }
  return any;
}

void fold(Cables& cables, const std::vector<int>& becomes) {
  std::vector<int> number(becomes.size(), -1);
  std::vector<int> members(becomes.size(), 0);
  std::vector<Cables::Switch> kept;
  for (std::size_t i = 0; i < becomes.size(); ++i) {
    const auto into = static_cast<std::size_t>(becomes[i]);
    ++members[into];
    if (into != i) continue;
    number[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(cables.switches[i]));
  }
  for (std::size_t i = 0; i < becomes.size(); ++i)
    if (members[i] > 1)
      kept[static_cast<std::size_t>(number[i])].name += fmt::format(" and {} like it", members[i] - 1);
  for (Cables::Cable& cable : cables.cables)
    for (int* end : {&cable.a, &cable.b})
      if (*end >= 0) *end = number[static_cast<std::size_t>(becomes[static_cast<std::size_t>(*end)])];
  cables.switches = std::move(kept);
}

Node switch_node(const Cables::Switch& from, std::size_t index) {
  Node node;
  node.kind = NodeKind::NetworkSwitch;
  node.host = -1;
  node.name = fmt::format("switch{}", index);
  node.model = from.name;
  return node;
}

}  // namespace

void fold_equal_switches(Cables& cables) {
  std::vector<int> becomes(cables.switches.size());
  for (int i = 0; i < kMaxFolds && representatives(cables, becomes); ++i) {
    fold(cables, becomes);
    becomes.resize(cables.switches.size());
  }
}

void add_network(Graph& graph, const Cables& cables, const std::vector<int>& nics, double switch_latency_us) {
  std::vector<int> nodes;
  for (std::size_t i = 0; i < cables.switches.size(); ++i)
    nodes.push_back(graph.add(switch_node(cables.switches[i], i)));
  struct Bundle {
    double gbs = 0;
    int count = 0;
    bool assumed = false;
  };
  std::map<std::pair<int, int>, Bundle> bundles;
  for (const Cables::Cable& cable : cables.cables) {
    const auto node_of = [&](int end) {
      return end >= 0 ? nodes[static_cast<std::size_t>(end)] : nics[Cables::adapter_index(end)];
    };
    const int one = node_of(cable.a);
    const int other = node_of(cable.b);
    const auto [low, high] = std::minmax(one, other);
    if (low < 0 || low == high) continue;  // an adapter that is not known, or folded switches among themselves
    Bundle& bundle = bundles[{low, high}];
    bundle.gbs += cable.gbs;
    ++bundle.count;
    bundle.assumed |= cable.assumed;
  }
  for (const auto& [ends, bundle] : bundles) {
    const bool with_nic = graph.nodes[static_cast<std::size_t>(ends.first)].kind != NodeKind::NetworkSwitch;
    graph.connect(ends.first, ends.second, LinkKind::Network, bundle.gbs,
                  with_nic ? rates::kFabricLatencyUs : switch_latency_us, bundle.assumed ? kAssumed : "ibnetdiscover",
                  bundle.count);
  }
}

}  // namespace weft::topology
