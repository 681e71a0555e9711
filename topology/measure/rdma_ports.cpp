// Active ports of fabric NICs.
#include "topology/measure/rdma_ports.hpp"

#include <algorithm>

#include "topology/device_facts.hpp"
#include "topology/device_kinds.hpp"
#include "topology/facts/gids.hpp"
#include "topology/locality.hpp"
#include "topology/measure/cpus.hpp"

namespace weft::topology {
namespace {

int cpu_near(const Survey& survey, const Locality& locality, int nic) {
  for (int numa : locality.numa_nodes_of(nic))
    if (const std::vector<int> cpus = measuring_cpus(survey, locality.node(numa)); !cpus.empty()) return cpus.front();
  return -1;
}

}  // namespace

std::vector<RdmaPort> rdma_ports(const Survey& survey) {
  const Locality locality(survey.graph);
  std::vector<RdmaPort> ports;
  for (int nic : locality.nics(0)) {
    const Node& node = locality.node(nic);
    const DeviceFacts* facts = device_facts(survey, node);
    if (!node.fabric || facts == nullptr || is_efa(node.device) || is_slingshot(node.device)) continue;
    const auto port =
        std::find_if(facts->ports.begin(), facts->ports.end(), [](const PortFacts& one) { return one.active(); });
    if (port == facts->ports.end()) continue;
    const GidFacts* gid = port->ethernet() ? best_gid(*port) : nullptr;
    if (port->ethernet() && gid == nullptr) continue;  // nothing to reach it by
    ports.push_back({node.name, verbs_name(node, facts), port->number, gid != nullptr ? gid->index : 0,
                     cpu_near(survey, locality, nic)});
  }
  return ports;
}

}  // namespace weft::topology
