// The parts of one machine.
#include "topology/machine_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "topology/device_kinds.hpp"
#include "topology/rates.hpp"
#include "topology/sources.hpp"

namespace weft::topology {
namespace {

// More sockets than this are joined through the machine only: they have a fabric of their own, and all pairs would be
// quadratic.
constexpr std::size_t kMaxSocketMesh = 8;

// What a device's link can do: the lower of both ends' best speeds, at the present width. Ports of virtual machines say
// nothing.
std::optional<double> link_gbs(const Node& node, const Node& above) {
  if (node.kind == NodeKind::PciBridge && is_emulated_bridge(node.device)) return std::nullopt;
  std::optional<double> gts = node.pci.max_gts ? node.pci.max_gts : node.pci.gts;
  const bool above_counts = above.kind == NodeKind::PciBridge && !is_emulated_bridge(above.device);
  if (gts && above_counts && above.pci.max_gts) gts = std::min(*gts, *above.pci.max_gts);
  const std::optional<int> width = node.pci.width ? node.pci.width : node.pci.max_width;
  if (!gts || !width) return std::nullopt;
  return rates::pci_gbs(*gts, *width);
}

}  // namespace

int MachineBuilder::add(NodeKind kind, int parent, std::string name) {
  Node node;
  node.kind = kind;
  node.parent = parent;
  node.host = host_;
  node.name = std::move(name);
  return graph_.add(std::move(node));
}

int MachineBuilder::machine(std::string name) { return machine_ = add(NodeKind::Machine, -1, std::move(name)); }

int MachineBuilder::package(int os_index, std::string cpu_model) {
  const int id = add(NodeKind::Package, machine_, fmt::format("package{}", os_index));
  graph_.nodes[static_cast<std::size_t>(id)].os_index = os_index;
  graph_.nodes[static_cast<std::size_t>(id)].model = std::move(cpu_model);
  packages_.push_back(id);
  return id;
}

int MachineBuilder::numa(int parent, int os_index) {
  const int id = add(NodeKind::Numa, parent, fmt::format("numa{}", os_index));
  graph_.nodes[static_cast<std::size_t>(id)].os_index = os_index;
  graph_.connect(parent, id, LinkKind::Internal, rates::kNumaToPackage.bandwidth_gbs, rates::kNumaToPackage.latency_us,
                 kAssumed);
  return id;
}

int MachineBuilder::numa_without_package(int os_index, std::optional<double> socket_gbs) {
  const int id = add(NodeKind::Numa, machine_, fmt::format("numa{}", os_index));
  graph_.nodes[static_cast<std::size_t>(id)].os_index = os_index;
  graph_.connect(machine_, id, LinkKind::Internal, socket_gbs.value_or(rates::kSocketUnknownGbs),
                 rates::kSocketLatencyUs, socket_gbs ? kModelSource : kAssumed);
  return id;
}

int MachineBuilder::core_group(int parent, int index) {
  const int id = add(NodeKind::CoreGroup, parent, fmt::format("cores{}", index));
  Node& node = graph_.nodes[static_cast<std::size_t>(id)];
  node.os_index = index;
  node.loopback_gbs = rates::kCoreGroupLoopback.bandwidth_gbs;
  node.loopback_us = rates::kCoreGroupLoopback.latency_us;
  graph_.connect(parent, id, LinkKind::Internal, rates::kCoreGroupToNuma.bandwidth_gbs,
                 rates::kCoreGroupToNuma.latency_us, kAssumed);
  return id;
}

int MachineBuilder::host_bridge(int parent, std::string name) {
  const int id = add(NodeKind::PciBridge, parent, std::move(name));
  graph_.connect(parent, id, LinkKind::Internal, rates::kHostBridge.bandwidth_gbs, rates::kHostBridge.latency_us,
                 kAssumed);
  return id;
}

int MachineBuilder::pci_device(Node node, std::string source, std::optional<double> reported_gbs) {
  node.host = host_;
  const int parent = node.parent;
  // A port's link is the one below it; what is above it is inside its chip.
  const bool port = node.kind == NodeKind::PciBridge;
  std::optional<double> gbs = link_gbs(node, graph_.nodes[static_cast<std::size_t>(parent)]);
  if (!gbs) gbs = reported_gbs;
  if (!gbs) source = kAssumed;
  const double latency = port ? rates::kPciPortLatencyUs : rates::kPciLatencyUs;
  const double assumed = port ? rates::kHostBridge.bandwidth_gbs : *rates::pci_gbs(8, 16);
  const int id = graph_.add(std::move(node));
  graph_.connect(parent, id, LinkKind::Pci, gbs.value_or(assumed), latency, std::move(source));
  return id;
}

void MachineBuilder::join_packages() {
  double rate = rates::kSocketUnknownGbs;
  if (!packages_.empty()) rate = rates::socket_gbs(graph_.nodes[static_cast<std::size_t>(packages_.front())].model);
  // One socket: the way to the machine is the socket's own fabric, nothing narrower.
  if (packages_.size() == 1) rate = rates::kNumaToPackage.bandwidth_gbs;
  for (int package : packages_)
    graph_.connect(machine_, package, LinkKind::Internal, rate, rates::kSocketLatencyUs, kAssumed);
  if (packages_.size() > kMaxSocketMesh) return;
  for (std::size_t a = 0; a < packages_.size(); ++a)
    for (std::size_t b = a + 1; b < packages_.size(); ++b)
      graph_.connect(packages_[a], packages_[b], LinkKind::CpuSocket, rate, rates::kSocketLatencyUs, kModelSource);
}

}  // namespace weft::topology
