// expect.missing: less than the site file or the reference machine says: GPUs, NICs, NUMA nodes, NVLinks.
#include "topology/audit/audit.hpp"
#include "topology/audit/compare.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (const Difference& one : differences(input))
    if (one.missing) report.add(self, one.subject, one.evidence);
}

}  // namespace

extern const Rule expect_missing;
const Rule expect_missing = {
    .id = "expect.missing",
    .severity = Severity::Error,
    .summary = "something is missing that was expected",
    .silent =
        "without --expect and without expectations of a site file; more than expected; what either side does not tell",
    .fix = "look for the device in lspci and dmesg (fallen off the bus, disabled in the BIOS, not passed to the guest)",
    .reference = "--expect and --site of topo-probe",
    .check = check,
};

}  // namespace weft::topology::audit
