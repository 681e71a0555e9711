// vm.topology_hidden: a virtual machine puts all its GPUs and NICs on one flat bus, so that NCCL pairs them wrongly and
// leaves GPUDirect RDMA off.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/plural.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

// Whether some GPU and NIC are seen below one switch.
bool any_pair_together(const Input& input, const std::vector<int>& gpus, const std::vector<int>& nics) {
  for (int gpu : gpus)
    for (int nic : nics)
      if (input.locality.device_path(gpu, nic).path_class < PathClass::Phb) return true;
  return false;
}

bool knows_numa(const Input& input, int device) {
  const std::vector<int> near = input.locality.numa_nodes_of(device);
  const DeviceFacts* facts = device_facts(input, device);
  return near.size() == 1 && (facts == nullptr || facts->numa != -1);
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    if (!virtual_machine(input, host).value_or(false)) continue;
    if (facts.variable("NCCL_TOPO_FILE") || facts.topology_file_present.value_or(false)) continue;
    const std::vector<int> gpus = accelerators(input, host);
    const std::vector<int> nics = usable_nics(input, host);
    if (gpus.size() < 2 || nics.empty() || any_pair_together(input, gpus, nics)) continue;
    const auto lost = static_cast<std::size_t>(
        std::count_if(gpus.begin(), gpus.end(), [&](int gpu) { return !knows_numa(input, gpu); }));
    report.add(
        self, input.on(host, facts.platform.hypervisor.value_or("virtual machine")),
        fmt::format("{} and {}, no two below one switch{}", base::plural(gpus.size(), "GPU"),
                    base::plural(nics.size(), "NIC"),
                    lost == 0 ? "" : fmt::format("; the NUMA node of {} is not known", base::plural(lost, "GPU"))));
  }
}

}  // namespace

extern const Rule vm_topology_hidden;
const Rule vm_topology_hidden = {
    .id = "vm.topology_hidden",
    .severity = Severity::Error,
    .summary = "a virtual machine hides which GPU and NIC share a switch",
    .silent =
        "physical machines; one GPU or no fabric NIC; where a topology file is given (NCCL_TOPO_FILE) or stands where "
        "NCCL looks",
    .fix =
        "give NCCL_TOPO_FILE (topo-probe --format nccl-xml writes one from a dump of the host, or the cloud ships "
        "one), expose NUMA nodes to the guest, then verify GPUDirect RDMA",
    .reference = "NVIDIA/nccl-tests#256",
    .check = check,
};

}  // namespace weft::topology::audit
