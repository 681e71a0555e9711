// limits.memlock: RDMA registers memory by locking it; with a low limit that fails at the first large buffer.
//
// The limit is that of the process that looks: under a launcher, of the ranks.
#include <fmt/format.h>

#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const ProcessFacts& process = input.facts(host).process;
    if (!process.memlock_bytes || *process.memlock_bytes >= input.site.thresholds.memlock_bytes) continue;
    const std::vector<int> nics = usable_nics(input, host);
    if (nics.empty() || process.may_lock_all.value_or(false) || in_container(input, host)) continue;
    report.add(self, input.on(host, "this process"),
               fmt::format("may lock {} KiB, and {} is an RDMA device", *process.memlock_bytes / 1024,
                           input.locality.describe(nics.front())));
  }
}

}  // namespace

extern const Rule limits_memlock;
const Rule limits_memlock = {
    .id = "limits.memlock",
    .severity = Severity::Error,
    .summary = "the limit of locked memory is too low for RDMA",
    .silent =
        "hosts without fabric NICs; processes with CAP_IPC_LOCK; containers, of which container.cap_ipc_lock tells",
    .fix =
        "ulimit -l unlimited (limits.conf, LimitMEMLOCK=infinity in the unit of the launcher's daemon); check under "
        "the launcher, not in a login shell",
    .reference = "NVIDIA/nccl-tests#206",
    .check = check,
};

}  // namespace weft::topology::audit
