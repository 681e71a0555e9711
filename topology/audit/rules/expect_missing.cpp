// expect.missing: less than the site file or the reference machine says: GPUs, NICs, NUMA nodes, NVLinks.
#include <string>

#include "topology/audit/audit.hpp"
#include "topology/audit/compare.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (const Difference& one : differences(input))
    if (one.missing) report.add(self, self.severity, one.subject, one.evidence, std::string(one.remedy));
}

}  // namespace

extern const Rule expect_missing;
const Rule expect_missing = {
    .id = "expect.missing",
    .severity = Severity::Error,
    .summary = "something is missing that was expected",
    .silent =
        "without --expect and without expectations of a site file; more than expected; what either side does not tell",
    .fix = "look for it with the tool for its kind: lspci, nvidia-smi nvlink, ibstat, lscpu, numactl or dmidecode",
    .reference = "--expect and --site of topo-probe",
    .check = check,
};

}  // namespace weft::topology::audit
