// efa.no_devices: the host has EFA, but the container does not have its device files: libfabric falls back to TCP.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/plural.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    if (!facts.container.infiniband_devices) continue;
    std::vector<int> nics = usable_nics(input, host);
    std::erase_if(nics, [&](int nic) { return !is_efa(input.locality.node(nic)); });
    const std::vector<std::string>& files = *facts.container.infiniband_devices;
    const auto usable =
        std::count_if(files.begin(), files.end(), [](const std::string& name) { return name.starts_with("uverbs"); });
    if (nics.empty() || usable > 0) continue;
    report.add(self, input.on(host, names_of(input.locality, nics)),
               fmt::format("{} on the PCI bus, no uverbs in /dev/infiniband{}", base::plural(nics.size(), "EFA device"),
                           in_container(input, host) ? " of this container" : ""));
  }
}

}  // namespace

extern const Rule efa_no_devices;
const Rule efa_no_devices = {
    .id = "efa.no_devices",
    .severity = Severity::Error,
    .summary = "EFA is there, but its device files are not",
    .silent = "hosts without EFA; where /dev/infiniband was not looked at",
    .fix =
        "give them to the container: the resource vpc.amazonaws.com/efa in Kubernetes, "
        "--device=/dev/infiniband/uverbs0 ... in Docker",
    .reference = "aws/aws-ofi-nccl#803, aws-samples/aws-do-eks#54",
    .check = check,
};

}  // namespace weft::topology::audit
