// memlock-limit-low: RDMA registers memory by locking it; with a low limit that fails at the first large buffer.
#include <fmt/format.h>

#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

constexpr std::uint64_t kEnough = std::uint64_t{1} << 30;

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const ProcessFacts& process = input.facts(host).process;
    if (!process.memlock_bytes || *process.memlock_bytes >= kEnough || process.may_lock_all.value_or(false)) continue;
    for (int nic : input.locality.nics(host)) {
      if (!input.locality.node(nic).fabric) continue;
      report.add(self, "this process",
                 fmt::format("may lock {} KiB, and {} is an RDMA device", *process.memlock_bytes / 1024,
                             input.locality.describe(nic)));
      break;
    }
  }
}

}  // namespace

extern const Rule memlock_limit_low;
const Rule memlock_limit_low = {"memlock-limit-low", Severity::Error, "the limit of locked memory is too low for RDMA",
                                "ulimit -l unlimited (limits.conf, LimitMEMLOCK=infinity, docker --ulimit memlock=-1)",
                                check};

}  // namespace weft::topology::audit
