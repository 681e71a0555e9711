// What the PCIe links of a host are asked for.
#include "topology/audit/loads.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_answers.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/device_kinds.hpp"
#include "topology/sources.hpp"

namespace weft::topology::audit {
namespace {

// Whether the source says what the link can do, not only how it runs now: an idle switch shows less than it has.
bool knows_most(const Input& input, const Node& lower) {
  return input.survey.nccl_version || (lower.pci.max_gts && lower.pci.max_width);
}

// Broadcom's PEX switches show their levels as switches below each other; between them is no PCIe link (NCCL merges
// them, too).
bool is_inside_switch(const Input& input, const Node& lower) {
  if (!lower.device.starts_with("1000:c0")) return false;
  for (int above = lower.parent; above >= 0; above = input.locality.node(above).parent)
    if (input.locality.node(above).device == lower.device) return true;
  return false;
}

// A GPU to each of its nearest NICs, which share their rate evenly among the GPUs that have them as nearest.
std::vector<Flow> flows_of(const Input& input, int host) {
  std::vector<Flow> flows;
  std::map<int, int> users;  // of a NIC
  for (int gpu : accelerators(input, host)) {
    std::vector<int> nearest = input.locality.nearest_nics(gpu);
    std::erase_if(nearest, [&](int nic) {
      const Node& node = input.locality.node(nic);
      return !node.fabric || !node.network_gbs || !node.active.value_or(true) || is_virtual_function(input, nic);
    });
    for (int nic : nearest) {
      flows.push_back({gpu, nic, 0});
      ++users[nic];
    }
  }
  for (Flow& flow : flows) flow.gbs = *input.locality.node(flow.nic).network_gbs / users[flow.nic];
  return flows;
}

bool is_own_link(const Link& link, const Flow& flow) {
  return link.a == flow.gpu || link.b == flow.gpu || link.a == flow.nic || link.b == flow.nic;
}

// What the two ends can carry at most: a flow never brings more.
double most_of(const Input& input, const Path& path, const Flow& flow) {
  double most = flow.gbs;
  for (const Hop& hop : path.hops) {
    const Link& link = input.graph.links[static_cast<std::size_t>(hop.link)];
    if (link.kind == LinkKind::Pci && is_own_link(link, flow)) most = std::min(most, link.bandwidth_gbs);
  }
  return most;
}

// The PCI link above a node, if its rate is known; null if not.
const Link* known_uplink(const Input& input, int node) {
  const int uplink = input.locality.uplink(node);
  if (uplink < 0) return nullptr;
  const Link& link = input.graph.links[static_cast<std::size_t>(uplink)];
  return link.source == kAssumed ? nullptr : &link;
}

int depth_of(const Graph& graph, int node) {
  int depth = 0;
  for (; node >= 0; node = graph.nodes[static_cast<std::size_t>(node)].parent) ++depth;
  return depth;
}

// What the storage of a host can bring to the bridges and switches above it. On the way up it may narrow: a backplane
// with many drives has one link.
class StorageRates {
 public:
  StorageRates(const Input& input, int host) : input_(input) {
    std::set<std::pair<int, int>> order;  // the deepest first
    for (int storage : input.locality.storage(host)) {
      const Link* link = known_uplink(input, storage);
      if (link == nullptr) continue;
      gbs_[storage] = link->bandwidth_gbs;
      for (int at = storage; is_pci(at); at = input.locality.node(at).parent) {
        order.emplace(-depth_of(input.graph, at), at);
        below_[at].push_back(storage);
      }
    }
    for (const auto& [depth, node] : order)
      if (const int above = input.locality.node(node).parent; is_pci(above)) gbs_[above] += through_uplink(node);
  }

  void add_to(LinkLoad& load) const {
    const auto found = below_.find(load.lower);
    if (found == below_.end()) return;
    load.storage = found->second;
    load.storage_gbs = through_uplink(load.lower);
  }

 private:
  bool is_pci(int node) const {
    if (node < 0) return false;
    const NodeKind kind = input_.locality.node(node).kind;
    return kind == NodeKind::Storage || kind == NodeKind::PciBridge || kind == NodeKind::PciSwitch;
  }
  double through_uplink(int node) const {
    const Link* link = known_uplink(input_, node);
    return link == nullptr ? gbs_.at(node) : std::min(gbs_.at(node), link->bandwidth_gbs);
  }

  const Input& input_;
  std::map<int, double> gbs_;              // by node
  std::map<int, std::vector<int>> below_;  // by node: storage
};

std::vector<LinkLoad> find_loads(const Input& input, int host) {
  std::map<int, LinkLoad> loads;  // by link
  for (Flow& flow : flows_of(input, host)) {
    const Path& path = input.locality.device_path(flow.gpu, flow.nic);
    if (path.path_class >= PathClass::Sys || path.path_class == PathClass::Nvl) continue;
    flow.gbs = most_of(input, path, flow);
    for (const Hop& hop : path.hops) {
      const Link& link = input.graph.links[static_cast<std::size_t>(hop.link)];
      if (link.kind != LinkKind::Pci || link.source == kAssumed || is_own_link(link, flow)) continue;
      const int lower = input.locality.node(link.b).parent == link.a ? link.b : link.a;
      const Node& node = input.locality.node(lower);
      if (is_emulated_bridge(node.device) || is_inside_switch(input, node) || !knows_most(input, node)) continue;
      LinkLoad& load = loads[hop.link];
      load.lower = lower;
      load.capacity_gbs = link.bandwidth_gbs;
      load.gbs += flow.gbs;
      load.flows.push_back(flow);
    }
  }
  std::vector<LinkLoad> all;
  const StorageRates storage(input, host);
  for (auto& [link, load] : loads) {
    storage.add_to(load);
    all.push_back(std::move(load));
  }
  return all;
}

}  // namespace

const std::vector<LinkLoad>& pcie_loads(const Input& input, int host) {
  return HostAnswers::once(input.answers[static_cast<std::size_t>(host)].pcie_loads,
                           [&] { return find_loads(input, host); });
}

}  // namespace weft::topology::audit
