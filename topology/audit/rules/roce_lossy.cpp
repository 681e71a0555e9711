// roce.lossy: packets of RoCE get lost and are sent again: the network is not lossless, so rates fall far below
// nominal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "topology/audit/audit.hpp"
#include "topology/audit/counters.hpp"

namespace weft::topology::audit {
namespace {

constexpr std::array<std::string_view, 6> kOfLoss = {"out_of_sequence",   "packet_seq_err", "local_ack_timeout_err",
                                                     "rnr_nak_retry_err", "out_of_buffer",  "implied_nak_seq_err"};

void check(const Rule& self, const Input& input, Report& report) {
  for (const Rise& rise : rising_counters(input)) {
    if (std::find(kOfLoss.begin(), kOfLoss.end(), rise.counter) == kOfLoss.end() || !rise.ethernet) continue;
    if (rise.per_hour > input.site.thresholds.port_errors_per_hour)
      report.add(self, rise.subject,
                 fmt::format("{} rose by {} in {:g} s, {:.0f} an hour", rise.counter, rise.count, input.seconds,
                             rise.per_hour));
  }
}

}  // namespace

extern const Rule roce_lossy;
const Rule roce_lossy = {
    .id = "roce.lossy",
    .severity = Severity::Warning,
    .summary = "RoCE packets are lost and sent again",
    .silent = "totals since boot; rates below the site's threshold; InfiniBand ports",
    .fix = "turn on priority flow control or ECN for RoCE's traffic class on NICs and switches (mlnx_qos, NCCL_IB_TC)",
    .reference = "RFC 3168; IEEE 802.1Qbb",
    .check = check,
    .needs = Needs::Interval,
};

}  // namespace weft::topology::audit
