// Builds the switches that a FabricSpec stands for.
#include "topology/fabric/fabric_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "topology/network.hpp"
#include "topology/sources.hpp"

namespace weft::topology {
namespace {

constexpr int kLeafPorts = 32;  // towards hosts: half of a 64-port switch
constexpr int kPodLeaves = 32;
constexpr double kMaxOversubscription = 1000;

Status bad(std::string message) { return Status(Code::InvalidArgument, "fabric: " + std::move(message)); }

// One end of a host in the network: a NIC, or the machine where there is none.
struct Port {
  int node = -1;
  int rail = 0;  // position among the host's NICs
  NetworkRate rate;
};

class FabricBuilder {
 public:
  FabricBuilder(Graph& graph, const FabricSpec& spec) : graph_(graph), spec_(spec) {}

  void build() {
    const std::vector<int> machines = graph_.ids(NodeKind::Machine);
    const std::vector<std::vector<int>> nics = network_nics(graph_);
    for (int machine : machines) {
      const int host = graph_.nodes[static_cast<std::size_t>(machine)].host;
      for (const Port& port : ports_of(machine, nics[static_cast<std::size_t>(host)])) join(port, host);
    }
    join_leaves();
    join_pods();
  }

 private:
  // (group of hosts, rail): a leaf; (pod, rail): a spine. Rail -1: all of them.
  using Place = std::pair<int, int>;
  struct Switch {
    int node = -1;
    double down_gbs = 0;
    double port_gbs = 0;  // of its fastest port towards hosts
  };

  std::vector<Port> ports_of(int machine, const std::vector<int>& nics) const {
    if (nics.empty()) return {Port{machine, 0, {rates::kAssumedEthernet, false}}};
    std::vector<Port> ports;
    for (std::size_t i = 0; i < nics.size(); ++i)
      ports.push_back({nics[i], static_cast<int>(i), network_rate_of(graph_.nodes[static_cast<std::size_t>(nics[i])])});
    return ports;
  }

  int rail_of_leaf(int rail) const { return spec_.rails == Rails::None ? -1 : rail; }
  int rail_of_spine(int rail) const { return spec_.rails == Rails::Only ? rail : -1; }
  int group_of(int host) const { return spec_.levels == 1 ? 0 : host / spec_.leaf_hosts; }
  int pod_of(int group) const { return spec_.levels < 3 ? 0 : group * spec_.leaf_hosts / spec_.pod_hosts; }

  Switch& at(std::map<Place, Switch>& level, Place place, std::string_view name) {
    Switch& found = level[place];
    if (found.node >= 0) return found;
    Node node;
    node.kind = NodeKind::NetworkSwitch;
    node.host = -1;
    node.name = fmt::format("{}{}", name, place.first);
    if (place.second >= 0) node.name += fmt::format("-rail{}", place.second);
    found.node = graph_.add(std::move(node));
    return found;
  }

  void join(const Port& port, int host) {
    Switch& leaf = at(leaves_, {group_of(host), rail_of_leaf(port.rail)}, spec_.levels == 1 ? "network" : "leaf");
    graph_.connect(port.node, leaf.node, LinkKind::Network, port.rate.rate.bandwidth_gbs, port.rate.rate.latency_us,
                   port.rate.known ? kSpec : kAssumed);
    leaf.down_gbs += port.rate.rate.bandwidth_gbs;
    leaf.port_gbs = std::max(leaf.port_gbs, port.rate.rate.bandwidth_gbs);
  }

  // A switch that is not full (the last one) has as many cables upwards as the others.
  static double fullest(const std::map<Place, Switch>& level) {
    double most = 0;
    for (const auto& [place, one] : level) most = std::max(most, one.down_gbs);
    return most;
  }

  void link_up(const Switch& lower, Switch& upper, double gbs) {
    const int cables = std::max(1, static_cast<int>(std::lround(gbs / lower.port_gbs)));
    graph_.connect(lower.node, upper.node, LinkKind::Network, gbs, spec_.latency_us, kSpec, cables);
    graph_.nodes[static_cast<std::size_t>(lower.node)].parent = upper.node;
    upper.down_gbs += gbs;
    upper.port_gbs = std::max(upper.port_gbs, lower.port_gbs);
  }

  void join_leaves() {
    if (spec_.levels < 2) return;
    const double up = fullest(leaves_) / spec_.leaf_oversubscription;
    for (const auto& [place, leaf] : leaves_) {
      Switch& spine = at(spines_, {pod_of(place.first), rail_of_spine(place.second)}, "spine");
      link_up(leaf, spine, up);
    }
  }

  void join_pods() {
    if (spec_.levels < 3) return;
    const double up = fullest(spines_) / spec_.pod_oversubscription;
    for (const auto& [place, spine] : spines_) link_up(spine, at(cores_, {0, rail_of_spine(place.second)}, "core"), up);
  }

  Graph& graph_;
  const FabricSpec& spec_;
  std::map<Place, Switch> leaves_;
  std::map<Place, Switch> spines_;
  std::map<Place, Switch> cores_;
};

}  // namespace

void fill_defaults(FabricSpec& spec, int nics_per_host) {
  const int ports = spec.rails == Rails::None ? std::max(nics_per_host, 1) : 1;
  if (spec.leaf_hosts == 0) spec.leaf_hosts = std::max(1, kLeafPorts / ports);
  if (spec.pod_hosts == 0) spec.pod_hosts = spec.leaf_hosts * kPodLeaves;
}

Status check_fabric(const FabricSpec& spec) {
  if (spec.levels < 1 || spec.levels > 3) return bad(fmt::format("{} levels; give 1, 2 or 3", spec.levels));
  for (const double ratio : {spec.leaf_oversubscription, spec.pod_oversubscription})
    if (!(ratio >= 1) || ratio > kMaxOversubscription)
      return bad(fmt::format("an oversubscription of {}; give 1 (none) to {}", ratio, kMaxOversubscription));
  if (!(spec.latency_us >= 0) || spec.latency_us > 1e6) return bad(fmt::format("a latency of {} us", spec.latency_us));
  if (spec.levels > 1 && spec.leaf_hosts < 1) return bad("leaves without hosts");
  if (spec.levels > 2 && (spec.pod_hosts < spec.leaf_hosts || spec.pod_hosts % spec.leaf_hosts != 0))
    return bad(fmt::format("pods of {} hosts are no multiple of leaves of {}", spec.pod_hosts, spec.leaf_hosts));
  return {};
}

void join_hosts(Graph& graph, const FabricSpec& spec) {
  if (graph.hosts() > 1) FabricBuilder(graph, spec).build();
}

}  // namespace weft::topology
