// net.plugin_missing: the fabric needs a network plugin of NCCL that is not installed, so NCCL falls back to sockets.
#include <fmt/format.h>

#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    if (!facts.network_plugins || !facts.network_plugins->empty() || accelerators(input, host).empty()) continue;
    std::vector<int> nics = usable_nics(input, host);
    std::erase_if(
        nics, [&](int nic) { return !is_efa(input.locality.node(nic)) && !is_slingshot(input.locality.node(nic)); });
    if (!nics.empty())
      report.add(self, input.on(host, names_of(input.locality, nics)),
                 fmt::format("{} needs libfabric, and no libnccl-net.so was found",
                             is_efa(input.locality.node(nics.front())) ? "EFA" : "Slingshot"));
  }
}

}  // namespace

extern const Rule net_plugin_missing;
const Rule net_plugin_missing = {
    .id = "net.plugin_missing",
    .severity = Severity::Error,
    .summary = "the fabric needs a network plugin that NCCL does not find",
    .silent =
        "InfiniBand and RoCE, which NCCL drives itself; hosts without NVIDIA or AMD GPUs; where plugins were not "
        "looked for",
    .fix = "install aws-ofi-nccl (for EFA and Slingshot) where NCCL finds it: libnccl-net.so on LD_LIBRARY_PATH",
    .reference = "aws/aws-ofi-nccl#889",
    .check = check,
};

}  // namespace weft::topology::audit
