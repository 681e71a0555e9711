// numa-node-unknown: the firmware does not tell to which NUMA node a GPU or NIC belongs, on a machine with several.
#include <fmt/format.h>

#include <algorithm>

#include "topology/audit/audit.hpp"
#include "topology/locality.hpp"

namespace weft::topology::audit {
namespace {

int numas_with_cpus(const Locality& locality, int host) {
  const std::vector<int>& numas = locality.numas(host);
  return static_cast<int>(
      std::count_if(numas.begin(), numas.end(), [&](int numa) { return !locality.node(numa).cpus.empty(); }));
}

// Neither below a NUMA node or package nor near some of the CPUs.
bool nowhere(const Graph& graph, const Node& device) {
  if (ancestor_of(graph, device.id, NodeKind::Package) >= 0 || ancestor_of(graph, device.id, NodeKind::Numa) >= 0)
    return false;
  const int machine = ancestor_of(graph, device.id, NodeKind::Machine);
  return device.cpus.empty() || (machine >= 0 && device.cpus == graph.nodes[static_cast<std::size_t>(machine)].cpus);
}

void check(const Rule& self, const Input& input, Report& report) {
  const Locality& locality = input.locality;
  for (int host = 0; host < locality.hosts(); ++host) {
    const int numas = numas_with_cpus(locality, host);
    if (numas < 2) continue;
    for (const std::vector<int>& devices : {locality.gpus(host), locality.nics(host)})
      for (int device : devices)
        if (nowhere(input.graph, locality.node(device)))
          report.add(self, locality.describe(device),
                     fmt::format("its NUMA node is -1 on a machine with {} NUMA nodes", numas));
  }
}

}  // namespace

extern const Rule numa_node_unknown;
const Rule numa_node_unknown = {"numa-node-unknown", Severity::Warning,
                                "a device's NUMA node is not known on a machine with several",
                                "update the firmware (its ACPI tables lack _PXM), or give the virtual machine a PCIe "
                                "topology; until then bind by hand",
                                check};

}  // namespace weft::topology::audit
