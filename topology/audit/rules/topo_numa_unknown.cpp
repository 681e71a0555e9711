// topo.numa_unknown: the firmware does not tell to which NUMA node a GPU or NIC belongs, on a machine with several.
#include <fmt/format.h>

#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

// Neither below a NUMA node or package nor near some of the CPUs.
bool nowhere(const Graph& graph, const Node& device) {
  if (ancestor_of(graph, device.id, NodeKind::Package) >= 0 || ancestor_of(graph, device.id, NodeKind::Numa) >= 0)
    return false;
  const int machine = ancestor_of(graph, device.id, NodeKind::Machine);
  return device.cpus.empty() || (machine >= 0 && device.cpus == graph.nodes[static_cast<std::size_t>(machine)].cpus);
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const std::size_t numas = numas_with_cpus(input.locality, host).size();
    if (numas < 2) continue;
    std::vector<int> devices = accelerators(input, host);
    const std::vector<int> nics = usable_nics(input, host);
    devices.insert(devices.end(), nics.begin(), nics.end());
    std::erase_if(devices, [&](int device) {
      const DeviceFacts* facts = device_facts(input, device);
      const bool told = facts != nullptr && facts->numa.value_or(-1) >= 0;
      return told || !nowhere(input.graph, input.locality.node(device));
    });
    if (!devices.empty())
      report.add(self, input.on(host, names_of(input.locality, devices, true)),
                 fmt::format("NUMA node -1 on a machine with {} NUMA nodes", numas));
  }
}

}  // namespace

extern const Rule topo_numa_unknown;
const Rule topo_numa_unknown = {
    .id = "topo.numa_unknown",
    .severity = Severity::Warning,
    .summary = "a device's NUMA node is not known on a machine with several",
    .silent = "devices near a part of the CPUs, or whose numa_node is told; Ethernet NICs; machines with one NUMA node",
    .fix =
        "update the firmware (its ACPI tables lack _PXM), or give the virtual machine a PCIe topology; until then bind "
        "by hand",
    .reference = "Documentation/ABI/testing/sysfs-bus-pci of Linux (numa_node)",
    .check = check,
};

}  // namespace weft::topology::audit
