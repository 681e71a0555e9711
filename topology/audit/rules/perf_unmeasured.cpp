// perf.unmeasured: something was to be measured and was not.
#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (const Remark& remark : input.survey.remarks)
    if (remark.kind == RemarkKind::Unmeasured) report.add(self, remark.subject, remark.evidence);
}

}  // namespace

extern const Rule perf_unmeasured;
const Rule perf_unmeasured = {
    .id = "perf.unmeasured",
    .severity = Severity::Info,
    .summary = "a measurement failed, or there was no time for it",
    .silent = "machines that were not measured; what they do not have",
    .fix = "look at what is named, then measure again; WEFT_TIMEOUT gives a cluster more time",
    .reference = "topology/measure/measure.hpp",
    .check = check,
};

}  // namespace weft::topology::audit
