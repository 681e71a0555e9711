// env.no_net_pin: if the network plugin fails, NCCL goes on over sockets without a word. Naming the network makes it
// fail instead.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

bool is_set_up(const HostFacts& facts) {
  return facts.environment &&
         std::any_of(facts.environment->begin(), facts.environment->end(), [](const Variable& variable) {
           return variable.name.starts_with("NCCL_") || variable.name.starts_with("FI_");
         });
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    if (!is_set_up(facts) || facts.variable("NCCL_NET") || accelerators(input, host).empty()) continue;
    std::vector<int> nics = usable_nics(input, host);
    std::erase_if(nics, [&](int nic) { return !is_efa(input.locality.node(nic)); });
    if (!nics.empty())
      report.add(self, input.on(host, "NCCL_NET"),
                 fmt::format("is not set, with {} EFA devices that need a plugin", nics.size()));
  }
}

}  // namespace

extern const Rule env_no_net_pin;
const Rule env_no_net_pin = {
    .id = "env.no_net_pin",
    .severity = Severity::Info,
    .summary = "NCCL may fall back to sockets silently",
    .silent =
        "fabrics that NCCL drives itself (InfiniBand, RoCE); NCCL_NET set; a shell without any variable of NCCL or "
        "libfabric",
    .fix = "export NCCL_NET=\"AWS Libfabric\" (aws-ofi-nccl), so that the job stops instead of running slowly",
    .reference = "aws/aws-ofi-nccl#889",
    .check = check,
};

}  // namespace weft::topology::audit
