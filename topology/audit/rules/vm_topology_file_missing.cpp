// vm.topology_file_missing: an Azure ND machine, whose guests need the topology file that Azure ships, runs without it:
// in a container it has to be mounted.
#include <fmt/format.h>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  constexpr std::size_t kGpusOfNd = 4;
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    const bool azure = facts.platform.vendor == "Microsoft Corporation" && facts.platform.virtual_machine == true;
    if (!azure || !facts.environment || facts.variable("NCCL_TOPO_FILE")) continue;
    if (facts.topology_file_present != false || accelerators(input, host).size() < kGpusOfNd) continue;
    report.add(self, input.on(host, "NCCL_TOPO_FILE"),
               fmt::format("is not set on {} with {} GPUs, and there is no file in /opt/microsoft{}",
                           facts.platform.product.value_or("an Azure machine"), accelerators(input, host).size(),
                           in_container(input, host) ? " of this container" : ""));
  }
}

}  // namespace

extern const Rule vm_topology_file_missing;
const Rule vm_topology_file_missing = {
    .id = "vm.topology_file_missing",
    .severity = Severity::Error,
    .summary = "an Azure GPU machine without NCCL's topology file",
    .silent =
        "other platforms; fewer than 4 GPUs; NCCL_TOPO_FILE set, or the file found; an environment that is not known",
    .fix =
        "mount the file of /opt/microsoft into the container and set NCCL_TOPO_FILE to it; as a stop-gap "
        "NCCL_NET_GDR_LEVEL=SYS",
    .reference = "Azure/aks-rdma-infiniband#36",
    .check = check,
};

}  // namespace weft::topology::audit
