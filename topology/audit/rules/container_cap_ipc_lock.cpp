// container.cap_ipc_lock: a container with RDMA devices may neither lock memory without limit nor raise the limit.
#include <fmt/format.h>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const ProcessFacts& process = input.facts(host).process;
    if (!in_container(input, host) || process.may_lock_all != false || !process.memlock_bytes) continue;
    if (*process.memlock_bytes >= input.site.thresholds.memlock_bytes || usable_nics(input, host).empty()) continue;
    report.add(self, input.on(host, "this process"),
               fmt::format("CAP_IPC_LOCK is not in CapEff, and it may lock {} KiB ({} container)",
                           *process.memlock_bytes / 1024, *input.facts(host).container.kind));
  }
}

}  // namespace

extern const Rule container_cap_ipc_lock;
const Rule container_cap_ipc_lock = {
    .id = "container.cap_ipc_lock",
    .severity = Severity::Error,
    .summary = "a container may not lock memory for RDMA",
    .silent = "outside of containers; a high limit; hosts without fabric NICs",
    .fix = "docker --cap-add=IPC_LOCK --ulimit memlock=-1; in Kubernetes securityContext.capabilities.add: [IPC_LOCK]",
    .reference = "microsoft/mscclpp#335",
    .check = check,
};

}  // namespace weft::topology::audit
