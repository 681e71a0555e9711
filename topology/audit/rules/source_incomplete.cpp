// source.incomplete: the source ends early; what is missing stays unknown.
#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (const Remark& remark : input.survey.remarks)
    if (remark.kind == RemarkKind::Incomplete) report.add(self, remark.subject, remark.evidence);
}

}  // namespace

extern const Rule source_incomplete;
const Rule source_incomplete = {
    .id = "source.incomplete",
    .severity = Severity::Info,
    .summary = "a text was cut, or a tree is not whole, so something is missing",
    .silent = "sources that were read whole",
    .fix = "give the whole output or tree: the findings know nothing of what is missing",
    .reference = "topology/survey.hpp",
    .check = check,
};

}  // namespace weft::topology::audit
