// expect.different: other than the site file or the reference machine says: another device, a slower port or link, a
// farther NIC.
#include "topology/audit/audit.hpp"
#include "topology/audit/compare.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (const Difference& one : differences(input))
    if (!one.missing) report.add(self, one.subject, one.evidence);
}

}  // namespace

extern const Rule expect_different;
const Rule expect_different = {
    .id = "expect.different",
    .severity = Severity::Warning,
    .summary = "something is other or slower than expected",
    .silent =
        "without --expect and without expectations of a site file; what is faster or nearer; what either side does not "
        "tell",
    .fix = "compare with the reference machine (topo-probe diff), then mend what is slower or take a new reference",
    .reference = "--expect and --site of topo-probe",
    .check = check,
};

}  // namespace weft::topology::audit
