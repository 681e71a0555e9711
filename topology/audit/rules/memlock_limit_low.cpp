// memlock-limit-low: RDMA registers memory by locking it; with a low limit that fails at the first large buffer.
#include <fmt/format.h>

#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

constexpr std::uint64_t kEnough = std::uint64_t{1} << 30;

void check(const Rule& self, const Input& input, Report& report) {
  if (!input.system.memlock_bytes || *input.system.memlock_bytes >= kEnough ||
      input.system.may_lock_all.value_or(false))
    return;
  for (const Node& node : input.graph.nodes) {
    if (node.kind != NodeKind::Nic || !node.fabric) continue;
    report.add(self, "this process",
               fmt::format("may lock {} KiB, and {} is an RDMA device", *input.system.memlock_bytes / 1024,
                           input.locality.describe(node.id)));
    return;
  }
}

}  // namespace

extern const Rule memlock_limit_low;
const Rule memlock_limit_low = {"memlock-limit-low", Severity::Error, "the limit of locked memory is too low for RDMA",
                                "ulimit -l unlimited (limits.conf, LimitMEMLOCK=infinity, docker --ulimit memlock=-1)",
                                check};

}  // namespace weft::topology::audit
