// Where a device sits.
#include "topology/locality.hpp"

#include <fmt/format.h>

#include <tuple>

#include "base/assert.hpp"
#include "topology/cpu_set.hpp"
#include "topology/rates.hpp"
#include "topology/sources.hpp"

namespace weft::topology {
int ancestor_of(const Graph& graph, int node, NodeKind kind) {
  while (node >= 0 && graph.nodes[static_cast<std::size_t>(node)].kind != kind)
    node = graph.nodes[static_cast<std::size_t>(node)].parent;
  return node;
}

Totals totals_of(const Graph& graph) {
  Totals totals;
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::Machine) continue;
    if (node.cores) totals.cores = totals.cores.value_or(0) + *node.cores;
    if (!node.cpus.empty()) totals.cpus = totals.cpus.value_or(0) + count_cpus(node.cpus);
  }
  return totals;
}

Locality::Locality(const Graph& graph)
    : graph_(graph), finder_(graph), uplink_(graph.nodes.size(), -1), position_(graph.nodes.size(), -1) {
  hosts_.resize(static_cast<std::size_t>(graph.hosts()));
  for (const Node& node : graph.nodes) {
    if (node.host < 0) continue;
    Host& host = hosts_[static_cast<std::size_t>(node.host)];
    if (node.kind == NodeKind::Gpu) host.gpus.push_back(node.id);
    if (node.kind == NodeKind::Nic) host.nics.push_back(node.id);
    if (node.kind == NodeKind::Nic && node.fabric) host.fabric_nics.push_back(node.id);
    if (node.kind == NodeKind::Storage) host.storage.push_back(node.id);
    if (node.kind == NodeKind::Numa) host.numas.push_back(node.id);
    if (node.kind == NodeKind::CoreGroup) host.core_groups.push_back(node.id);
    if (node.kind == NodeKind::Machine) host.machine = node.id;
    if (node.kind == NodeKind::Package) host.packages.push_back(node.id);
  }
  for (const Host& host : hosts_) {
    int position = 0;
    for (const std::vector<int>* devices : {&host.gpus, &host.nics})
      for (int device : *devices) position_[static_cast<std::size_t>(device)] = position++;
  }
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const Link& link = graph.links[i];
    if (link.kind != LinkKind::Pci) continue;
    const int lower = node(link.b).parent == link.a ? link.b : link.a;
    uplink_[static_cast<std::size_t>(lower)] = static_cast<int>(i);
  }
}

std::string Locality::name(int id) const {
  const Node& named = node(id);
  return hosts() > 1 && named.host >= 0 ? fmt::format("host{}/{}", named.host, named.name) : named.name;
}

std::string Locality::describe(int id) const {
  const Node& named = node(id);
  if (named.bus_id.empty() || named.bus_id == named.name) return name(id);
  return fmt::format("{} ({})", name(id), named.bus_id);
}

std::vector<int> Locality::numa_nodes_of(int device) const {
  if (const int numa = ancestor_of(graph_, device, NodeKind::Numa); numa >= 0) return {numa};
  std::vector<int> near;
  for (int numa : numas(node(device).host))
    if (cpus_inside(node(numa).cpus, node(device).cpus)) near.push_back(numa);
  return near;
}

std::optional<double> Locality::pci_link_gbs(int id) const {
  const PciLink& pci = node(id).pci;
  if (pci.gts && pci.width) return rates::pci_gbs(*pci.gts, *pci.width);
  const int uplink = uplink_[static_cast<std::size_t>(id)];
  if (uplink < 0 || graph_.links[static_cast<std::size_t>(uplink)].source == kAssumed) return std::nullopt;
  return graph_.links[static_cast<std::size_t>(uplink)].bandwidth_gbs;
}

int Locality::upstream_bridge(int device) const {
  const int parent = node(device).parent;
  if (parent < 0) return -1;
  const NodeKind kind = node(parent).kind;
  if (kind != NodeKind::PciBridge && kind != NodeKind::PciSwitch) return -1;
  return is_host_bridge(graph_, parent) ? -1 : parent;
}

const Path& Locality::device_path(int gpu, int device) {
  WEFT_ASSERT(node(gpu).kind == NodeKind::Gpu && node(gpu).host == node(device).host);
  const auto [found, fresh] = device_paths_.try_emplace(gpu);
  if (fresh) {
    std::vector<int> devices = gpus(node(gpu).host);
    devices.insert(devices.end(), nics(node(gpu).host).begin(), nics(node(gpu).host).end());
    found->second = finder_.best_paths(gpu, devices);
  }
  return found->second.at(static_cast<std::size_t>(position_[static_cast<std::size_t>(device)]));
}

std::vector<int> Locality::nearest_nics(int gpu) {
  const Host& host = hosts_[static_cast<std::size_t>(node(gpu).host)];
  const std::vector<int>& candidates = host.fabric_nics.empty() ? host.nics : host.fabric_nics;
  const int package = ancestor_of(graph_, gpu, NodeKind::Package);
  std::vector<int> nearest;
  std::tuple<PathClass, bool> best{PathClass::None, false};
  for (int nic : candidates) {
    const PathClass path_class = device_path(gpu, nic).path_class;
    const bool far = package >= 0 && ancestor_of(graph_, nic, NodeKind::Package) != package;
    const std::tuple<PathClass, bool> key{path_class, path_class == PathClass::Sys && far};
    if (path_class >= PathClass::Unknown || key > best) continue;
    if (key < best) nearest.clear();
    best = key;
    nearest.push_back(nic);
  }
  return nearest;
}

}  // namespace weft::topology
