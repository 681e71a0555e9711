// source.contradiction: two places of the source do not agree.
#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (const Remark& remark : input.survey.remarks)
    if (remark.kind == RemarkKind::Contradiction) report.add(self, remark.subject, remark.evidence);
}

}  // namespace

extern const Rule source_contradiction;
const Rule source_contradiction = {
    .id = "source.contradiction",
    .severity = Severity::Warning,
    .summary = "two places of a source do not agree",
    .silent = "sources that agree with themselves",
    .fix = "find out which place is right before the graph is used; the evidence says what was taken",
    .reference = "topology/survey.hpp",
    .check = check,
};

}  // namespace weft::topology::audit
