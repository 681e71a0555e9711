// The parts of one machine.
#include "topology/machine_builder.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "topology/rates.hpp"

namespace weft::topology {
namespace {

// More sockets than this are joined through the machine only: they have a fabric of their own, and all pairs would be
// quadratic.
constexpr std::size_t kMaxSocketMesh = 8;

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
                 "assumed");
  return id;
}

int MachineBuilder::core_group(int parent, int index) {
  const int id = add(NodeKind::CoreGroup, parent, fmt::format("cores{}", index));
  Node& node = graph_.nodes[static_cast<std::size_t>(id)];
  node.os_index = index;
  node.loopback_gbs = rates::kCoreGroupLoopback.bandwidth_gbs;
  node.loopback_us = rates::kCoreGroupLoopback.latency_us;
  graph_.connect(parent, id, LinkKind::Internal, rates::kCoreGroupToNuma.bandwidth_gbs,
                 rates::kCoreGroupToNuma.latency_us, "assumed");
  return id;
}

int MachineBuilder::host_bridge(int parent, std::string name) {
  const int id = add(NodeKind::PciBridge, parent, std::move(name));
  graph_.connect(parent, id, LinkKind::Internal, rates::kHostBridge.bandwidth_gbs, rates::kHostBridge.latency_us,
                 "assumed");
  return id;
}

int MachineBuilder::pci_device(Node node, std::string source) {
  node.host = host_;
  const int parent = node.parent;
  // The best the link can do if it is known: a GPU's link slows down while idle.
  std::optional<double> gbs;
  const std::optional<double> gts = node.pci.max_gts ? node.pci.max_gts : node.pci.gts;
  if (gts && node.pci.width) gbs = rates::pci_gbs(*gts, *node.pci.width);
  const int id = graph_.add(std::move(node));
  if (gbs)
    graph_.connect(parent, id, LinkKind::Pci, *gbs, rates::kPciLatencyUs, std::move(source));
  else
    graph_.connect(parent, id, LinkKind::Pci, *rates::pci_gbs(8, 16), rates::kPciLatencyUs, "assumed");
  return id;
}

void MachineBuilder::join_packages() {
  double rate = rates::kSocketUnknownGbs;
  if (!packages_.empty()) rate = rates::socket_gbs(graph_.nodes[static_cast<std::size_t>(packages_.front())].model);
  // One socket: the way to the machine is the socket's own fabric, nothing narrower.
  if (packages_.size() == 1) rate = rates::kNumaToPackage.bandwidth_gbs;
  for (int package : packages_)
    graph_.connect(machine_, package, LinkKind::Internal, rate, rates::kSocketLatencyUs, "assumed");
  if (packages_.size() > kMaxSocketMesh) return;
  for (std::size_t a = 0; a < packages_.size(); ++a)
    for (std::size_t b = a + 1; b < packages_.size(); ++b)
      graph_.connect(packages_[a], packages_[b], LinkKind::CpuSocket, rate, rates::kSocketLatencyUs, "model");
}

}  // namespace weft::topology
