// source.gave_up: a vendor's library did not answer in time and was given up.
#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (const Remark& remark : input.survey.remarks)
    if (remark.kind == RemarkKind::GaveUp) report.add(self, remark.subject, remark.evidence);
}

}  // namespace

extern const Rule source_gave_up;
const Rule source_gave_up = {
    .id = "source.gave_up",
    .severity = Severity::Warning,
    .summary = "a vendor's library did not answer in time",
    .silent = "libraries that are not installed",
    .fix =
        "find out why it hangs (a GPU that fell off the bus, a stuck driver: dmesg); what it would have told is "
        "unknown",
    .reference = "topology/survey.hpp",
    .check = check,
};

}  // namespace weft::topology::audit
